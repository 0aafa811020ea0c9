/** Every metric of every process, read from the register that the code itself fills. */
import { type MetricObject, Registry } from 'prom-client'
import { createApiMetrics } from '../../api/http/api-metrics.js'
import { publishMemory } from '../../redis/connection/redis-memory.js'
import { publishClockDifference, publishProcess } from '../../runtime/metrics.js'
import { createArchiveMetrics } from '../../workers/archive/archive-metrics.js'
import { createWorkerMetrics } from '../../workers/payments/payments-metrics.js'
import { createTimersMetrics, publishInstallation } from '../../workers/timers/timers-metrics.js'
import { createWebhookMetrics, publishBacklog } from '../../workers/webhooks/webhooks-metrics.js'

export interface MetricRow {
  readonly name: string
  readonly type: string
  readonly labels: readonly string[]
  readonly help: string
}

/** Which processes publish which metrics. */
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
  ['`api`; the first also `tokens` and `notifications`', registry => void createApiMetrics(registry)],
  ['`payments`', registry => void createWorkerMetrics(registry)],
  [
    '`timers`',
    registry => {
      createTimersMetrics(registry)
      publishInstallation(never, registry)
      publishMemory('durable', never, registry)
    }
  ],
  ['`archive`', registry => createArchiveMetrics({ now: () => 0 }, registry)],
  [
    '`webhooks`',
    registry => {
      createWebhookMetrics(registry)
      publishBacklog(never, registry)
    }
  ]
]

/** Metrics by process, by default ours only: those of the Prometheus client about Node differ from system to system. */
export function metricGroups(prefix = 'card_payments_'): MetricGroup[] {
  return groups.map(([processes, fill]) => {
    const registry = new Registry()
    fill(registry)
    const rows = registry
      .getMetricsAsArray()
      .filter(({ name }) => name.startsWith(prefix))
      .map(rowOf)
    return { processes, rows }
  })
}

/** The client's types say less of a metric than it knows of itself. */
function rowOf(metric: MetricObject): MetricRow {
  const { name, help } = metric
  const labels: unknown = 'labelNames' in metric ? metric.labelNames : []
  return { name, type: String(metric.type), labels: Array.isArray(labels) ? labels.map(String) : [], help }
}
