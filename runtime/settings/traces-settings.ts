/** Settings of traces (docs/OPERATIONS.md#traces-with-opentelemetry), with the names of OpenTelemetry. */
import { everyProcess, httpUrl, setting } from '../setting.js'

export const tracesSettings = {
  otlpEndpoint: httpUrl(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    everyProcess,
    '',
    'Base address of an OpenTelemetry collector that takes OTLP over HTTP, such as http://localhost:4318. Empty: no trace is recorded.'
  ),
  tracesSampled: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    everyProcess,
    '1',
    'The share of requests that is recorded, from 0 to 1; the `traceparent` of a merchant decides for its request. Use 1 for a collector with tail sampling.',
    value => {
      const part = /^[01]?(\.\d+)?$/.test(value) && value !== '' ? Number(value) : Number.NaN
      if (!(part >= 0 && part <= 1)) throw new Error('must be a number from 0 to 1')
      return part
    }
  )
} as const
