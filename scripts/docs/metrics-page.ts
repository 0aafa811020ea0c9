/** Every figure of every process, read from the register that the code itself fills. */
import { type MetricObject, Registry } from 'prom-client'
import { createApiMetrics, publishAdmission } from '../../api/http/api-metrics.js'
import { publishClockDifference, publishProcess } from '../../runtime/metrics.js'
import { createWorkerMetrics } from '../../workers/payments/payments-metrics.js'
import { createTimersMetrics, publishInstallation } from '../../workers/timers/timers-metrics.js'
import { createWebhookMetrics, publishBacklog } from '../../workers/webhooks/webhooks-metrics.js'

export interface MetricRow {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly help: string
}

/** Which processes tell which figures. */
export interface MetricGroup {
  readonly processes: string
  readonly rows: readonly MetricRow[]
}

const never = (): Promise<never> => new Promise(() => undefined)

const groups: readonly [processes: string, fill: (registry: Registry) => void][] = [
  [
    'every process',
    registry => {
      publishProcess(registry, 'any', { warnings: new Map() }, never)
      publishClockDifference(() => 0, registry)
    }
  ],
  [
    '`api`; the first also `tokens` and `notifications`',
    registry => {
      createApiMetrics(registry)
      publishAdmission(registry, () => ({ inFlight: 0, merchants: 0 }))
    }
  ],
  ['`payments`', registry => createWorkerMetrics({ inWork: () => 0, isCircuitOpen: () => false }, registry)],
  [
    '`timers`',
    registry => {
      createTimersMetrics(registry)
      publishInstallation(never, registry)
    }
  ],
  [
    '`webhooks`',
    registry => {
      createWebhookMetrics(registry)
      publishBacklog(never, registry)
    }
  ]
]

/** The client's own figures about Node: many, known, and not the same on every system. */
const OF_THE_CLIENT = /^(nodejs_|process_(?!ready))/

/** Our figures, by process. */
export function metricGroups(): MetricGroup[] {
  return groups.map(([processes, fill]) => {
    const registry = new Registry()
    fill(registry)
    const rows = registry
      .getMetricsAsArray()
      .filter(({ name }) => !OF_THE_CLIENT.test(name))
      .map(rowOf)
    return { processes, rows }
  })
}

/** Every name that /metrics shows for a figure: a histogram has three, and the client's own have theirs. */
export function seriesNames(): Set<string> {
  const registry = new Registry()
  for (const [, fill] of groups) fill(registry)
  const names = registry.getMetricsAsArray().map(rowOf)
  return new Set(
    names.flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
    )
  )
}

/** The client's types say less of a metric than it knows of itself. */
function rowOf(metric: MetricObject): MetricRow {
  const { name, help } = metric
  const labels: unknown = 'labelNames' in metric ? metric.labelNames : []
  return { name, type: String(metric.type), labels: Array.isArray(labels) ? labels.map(String) : [], help }
}
