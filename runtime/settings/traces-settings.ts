/** Settings of traces (docs/OPERATIONS.md#traces-with-opentelemetry), under the names that OpenTelemetry has given them. */
import { everyProcess, httpUrl, oneOf, setting } from '../setting.js'

export const tracesSettings = {
  otlpEndpoint: httpUrl(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    everyProcess,
    '',
    'Base address of an OpenTelemetry collector that takes OTLP over HTTP, such as http://localhost:4318. Empty: no trace is recorded.'
  ),
  tracesSampler: oneOf(
    'OTEL_TRACES_SAMPLER',
    everyProcess,
    ['parentbased_traceidratio', 'traceidratio'],
    'parentbased_traceidratio',
    'Which traces are recorded: as the `traceparent` of the merchant says, and of other requests a part; or a part of all.'
  ),
  tracesSampled: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    everyProcess,
    '1',
    'That part, from 0 to 1. 1 is right for a collector that chooses by the whole trace (tail sampling).',
    value => {
      const part = /^[01]?(\.\d+)?$/.test(value) && value !== '' ? Number(value) : Number.NaN
      if (!(part >= 0 && part <= 1)) throw new Error('must be a number from 0 to 1')
      return part
    }
  )
} as const
