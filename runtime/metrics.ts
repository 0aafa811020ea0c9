/**
 * Metrics for Prometheus: those of every process, and gauges that are read for each scrape.
 *
 * Each process registers its own metrics in a file of its room; docs/METRICS.md is generated from them.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry, register } from 'prom-client'
import type { Conditions, Health } from './health.js'
import { version } from './version.js'
import { withTimeout } from './with-timeout.js'

/** How long a reading may take (ms). Prometheus gives a scrape 10 s, and drops all figures of one that takes longer. */
const READING_TIMEOUT_MS = 7_000

/**
 * Buckets of the histograms of single steps of a command, in `api` and in its worker (s): the same, so that the steps can be
 * compared and added up.
 */
export const STEP_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Registers counters and durations in `registry`. Each method returns the function that counts. */
export function metricsIn(registry: Registry) {
  const registers = [registry]
  return {
    counter(name: string, help: string): (by?: number) => void {
      const counter = new Counter({ name, help, registers })
      return by => counter.inc(by)
    },
    /** A counter with one label. */
    counterBy<Value extends string>(name: string, help: string, label: string): (value: Value) => void {
      const counter = new Counter({ name, help, labelNames: [label], registers })
      return value => counter.inc({ [label]: value })
    },
    /** A histogram in seconds. */
    duration<Label extends string = never>(name: string, help: string, buckets: number[], ...labelNames: Label[]) {
      const histogram = new Histogram({ name, help, labelNames, buckets, registers })
      return (durationMs: number, labels: Record<Label, string | number>): void =>
        histogram.observe(labels, durationMs / 1_000)
    },
    /** A gauge that is read when Prometheus scrapes. */
    gauge(name: string, help: string, read: () => number): void {
      const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) })
    }
  }
}

/** Does `work`, and reports its outcome (`failed` when it rejected) and its duration. */
export async function timed<T>(
  work: () => Promise<T>,
  outcomeOf: (answer: T) => string,
  tell: (outcome: string, durationMs: number) => void
): Promise<T> {
  const startedMs = performance.now()
  let outcome = 'failed'
  try {
    const answer = await work()
    outcome = outcomeOf(answer)
    return answer
  } finally {
    tell(outcome, performance.now() - startedMs)
  }
}

/** One gauge, and where its value is in a reading. */
export interface Figure<T> {
  readonly name: string
  readonly help: string
  /** Name of the one label, where there is one: `pick` then answers a value for each of its values. */
  readonly label?: string
  readonly pick: (reading: T) => number | Readonly<Record<string, number>>
}

/**
 * Registers gauges that are set from one reading per scrape. When the reading fails they are absent: an old value would
 * look like a current one.
 */
export function publishFigures<T>(registry: Registry, read: () => Promise<T>, figures: readonly Figure<T>[]): void {
  let reading: Promise<T | null> | undefined
  const readOnce = (): Promise<T | null> => {
    reading ??= withTimeout(READING_TIMEOUT_MS, read())
      .catch(() => null)
      .finally(() => {
        reading = undefined
      })
    return reading
  }
  for (const figure of figures) publishFigure(registry, readOnce, figure)
}

function publishFigure<T>(registry: Registry, read: () => Promise<T | null>, figure: Figure<T>): void {
  const { name, help, label, pick } = figure
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect: async () => {
      const found = await read()
      if (label !== undefined) gauge.reset()
      else gauge.remove()
      if (found === null) return
      const value = pick(found)
      if (typeof value === 'number') gauge.set(value)
      else for (const [key, count] of Object.entries(value)) gauge.set({ [label ?? '']: key }, count)
    }
  })
}

/**
 * How often the lag of the event loop is measured, and what it shows at rest (ms). Each measurement wakes the process: with the
 * usual 10 an idle installation spent a third of its CPU on it, with 100 a fifth.
 */
const LAG_EVERY_MS = 500

/** The metrics of every process: memory, CPU, event-loop lag and garbage collection (prom-client's defaults); version; health. */
export function publishProcess(
  registry: Registry,
  processName: string,
  conditions: Pick<Conditions, 'warnings'>,
  check: () => Promise<Health>
): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  const build = new Gauge({
    name: 'card_payments_build_info',
    help: 'Always 1. Which version of the service this process runs, on which Node.',
    labelNames: ['process', 'version', 'node'],
    registers: [registry]
  })
  build.set({ process: processName, version, node: process.version }, 1)
  publishFigures(registry, check, [
    {
      name: 'card_payments_process_ready',
      help: 'Whether /readyz says yes at this moment: 1 or 0.',
      pick: ({ problems }) => (Object.keys(problems).length === 0 ? 1 : 0)
    },
    {
      name: 'card_payments_process_warning',
      help: 'Whether /readyz warns of this part at this moment: 1 or 0.',
      label: 'part',
      pick: ({ warnings }) =>
        Object.fromEntries([...conditions.warnings.keys()].map(part => [part, part in warnings ? 1 : 0]))
    }
  ])
}

/** How far the clock of the machine is ahead of that of Redis; `aheadMs` answers what was measured last. */
export function publishClockDifference(aheadMs: () => number, registry: Registry = register): void {
  publishFigures(registry, async () => aheadMs(), [
    {
      name: 'card_payments_clock_difference_seconds',
      help: 'How far the clock of the machine is ahead of the clock of Redis; negative when it is behind.',
      pick: ms => ms / 1_000
    }
  ])
}
