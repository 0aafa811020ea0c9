/**
 * OpenTelemetry traces with explicit context: each step gets its parent as the text of a W3C `traceparent`, which
 * passes through streams and processes like any other field. No library is instrumented: that would export the
 * arguments of scripts.
 *
 * A `traceparent` is always passed on and logged. Steps are recorded where `recordTraces` was called. Their
 * attributes are ids, amounts, times and names of our own: never card or personal data.
 */
import { type Attributes, ROOT_CONTEXT, SpanKind, type Tracer, trace } from '@opentelemetry/api'

/** One step of a trace. */
export interface Step {
  /** The parent for steps below this one; null: there is no trace. */
  readonly traceparent: string | null
  readonly isRecorded: boolean
  end(attributes?: Attributes, name?: string): void
}

interface StepOptions {
  readonly kind?: keyof typeof SpanKind
  /** By `performance.now()`; now unless it is given (ms). */
  readonly startMs?: number
  readonly attributes?: Attributes
  /** The step of another trace that led to this one. */
  readonly link?: string | null
}

/** Version, trace, span, flags; a later version may append more. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/

let tracer: Tracer | null = null

/** From now on steps are recorded; null: no longer. */
export function recordTraces(given: Tracer | null): void {
  tracer = given
}

/** The `traceparent` of a header; null when it is absent or invalid: a trace never fails a request. */
export function traceparentOf(header: string): string | null {
  return TRACEPARENT.exec(header)?.[0] ?? null
}

/** The trace id, for logs. */
export function traceIdOf(traceparent: string | null): string | undefined {
  return traceparent?.slice(3, 35)
}

/** `parent` null: the step begins a trace. */
export function beginStep(name: string, parent: string | null, options: StepOptions = {}): Step {
  if (tracer === null) return { traceparent: parent, isRecorded: false, end: () => undefined }
  const { kind = 'INTERNAL', startMs, attributes, link } = options
  const span = tracer.startSpan(
    name,
    {
      kind: SpanKind[kind],
      startTime: performance.timeOrigin + (startMs ?? performance.now()),
      ...(attributes === undefined ? {} : { attributes }),
      links: link ? [{ context: contextOf(link) }] : []
    },
    parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent))
  )
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    isRecorded: span.isRecording(),
    end(more = {}, finalName = name) {
      span
        .updateName(finalName)
        .setAttributes(more)
        .end(performance.timeOrigin + performance.now())
    }
  }
}

/** A step that has just ended and took `durationMs`. */
export function recordStep(
  name: string,
  parent: string | null,
  durationMs: number,
  options: Omit<StepOptions, 'startMs'> = {}
): void {
  if (tracer === null) return
  beginStep(name, parent, { ...options, startMs: performance.now() - durationMs }).end()
}

function contextOf(traceparent: string): { traceId: string; spanId: string; traceFlags: number; isRemote: true } {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
