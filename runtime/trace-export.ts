/** Sends recorded steps to an OpenTelemetry collector. A process loads this file only when it has the address of one. */
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider
} from '@opentelemetry/sdk-trace'
import { type Logger, warnRateLimited } from './log.js'
import { recordTraces } from './tracing.js'
import { version } from './version.js'

/** A collector that is down must not keep a process from stopping (ms). */
const EXPORT_TIMEOUT_MS = 2_000

interface TraceExport {
  /** Base address of a collector that speaks OTLP over HTTP. */
  readonly otlpEndpoint: string
  /** 0 to 1. */
  readonly tracesSampled: number
  readonly environment: string
}

/** Records steps from now on. `stop` sends the rest. */
export function exportTraces(
  processName: string,
  { otlpEndpoint, tracesSampled, environment }: TraceExport,
  log: Logger
): { stop(): Promise<void> } {
  const warn = (message: string): void =>
    void warnRateLimited(log, { collector: otlpEndpoint, problem: message }, 'traces do not reach their collector')
  diag.setLogger({ error: warn, warn, info: warn, debug: warn, verbose: warn }, DiagLogLevel.WARN)
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.namespace': 'card-payments',
      'service.name': `card-payments-${processName}`,
      'service.version': version,
      'deployment.environment.name': environment
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(tracesSampled) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({
          url: `${otlpEndpoint.replace(/\/$/, '')}/v1/traces`,
          timeoutMillis: EXPORT_TIMEOUT_MS
        }),
        exportTimeoutMillis: EXPORT_TIMEOUT_MS
      })
    ]
  })
  recordTraces(provider.getTracer('card-payments'))
  return {
    async stop() {
      recordTraces(null)
      await provider.shutdown().catch((error: unknown) => warn(String(error)))
    }
  }
}
