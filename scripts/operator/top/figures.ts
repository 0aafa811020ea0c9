/** Rates and latencies from two looks at the figures of all processes. */

import { parseSeries, type Series } from '../series.js'

const PREFIX = 'card_payments_'

/** What the labels of a series must match. */
type Labels = Readonly<Record<string, RegExp>>

/** The values of all series by process, name and labels, at one moment. */
export interface Look {
  readonly atMs: number
  readonly values: ReadonlyMap<string, SeriesOfProcess>
  readonly processes: ReadonlySet<string>
}

interface SeriesOfProcess extends Series {
  readonly process: string
}

/** What happened between two looks. `p50Ms`, `p99Ms`: null without a call, or for what is no histogram. */
export interface Flow {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** `processes`: the text of `/metrics` of each, by the address of the process. Names lose their common prefix. */
export function lookAt(atMs: number, processes: readonly { readonly name: string; readonly metrics: string }[]): Look {
  const values = new Map<string, SeriesOfProcess>()
  for (const { name: process, metrics } of processes) {
    for (const series of parseSeries(metrics)) {
      if (!series.name.startsWith(PREFIX)) continue
      const name = series.name.slice(PREFIX.length)
      values.set(`${process} ${name} ${[...series.labels]}`, { ...series, process, name })
    }
  }
  return { atMs, values, processes: new Set(processes.map(({ name }) => name)) }
}

/** Calls of a histogram whose labels are `wanted`. */
export function flowOf(before: Look, after: Look, histogram: string, wanted: Labels): Flow {
  const buckets = new Map<number, number>()
  for (const { labels, grown } of growthOf(before, after, `${histogram}_bucket`, wanted)) {
    const limit = Number((labels.get('le') ?? '').replace('+Inf', 'Infinity'))
    buckets.set(limit, (buckets.get(limit) ?? 0) + grown)
  }
  const sorted = [...buckets].sort(([a], [b]) => a - b)
  return {
    perSecond: perSecondOf(before, after, `${histogram}_count`, wanted),
    p50Ms: quantileMs(sorted, 0.5),
    p99Ms: quantileMs(sorted, 0.99)
  }
}

/** How much a counter grows in a second. */
export function perSecondOf(before: Look, after: Look, counter: string, wanted: Labels = {}): number {
  const grown = growthOf(before, after, counter, wanted).reduce((sum, series) => sum + series.grown, 0)
  return grown / ((after.atMs - before.atMs) / 1_000)
}

function growthOf(before: Look, after: Look, name: string, wanted: Labels) {
  return [...after.values].flatMap(([id, series]) => {
    if (series.name !== name || !hasLabels(series, wanted)) return []
    // Of a process that was not seen before nothing is known. A series that a process did not have begins at 0.
    const past = before.values.get(id)?.value ?? (before.processes.has(series.process) ? 0 : series.value)
    return [{ labels: series.labels, grown: series.value < past ? series.value : series.value - past }]
  })
}

function hasLabels({ labels }: SeriesOfProcess, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, pattern]) => pattern.test(labels.get(name) ?? ''))
}

/** Within a bucket, calls count as spread evenly. `buckets`: cumulative, by their upper limit (s), the last one infinite. */
function quantileMs(buckets: readonly (readonly [limit: number, count: number])[], quantile: number): number | null {
  const rank = (buckets.at(-1)?.[1] ?? 0) * quantile
  if (rank === 0) return null
  let [lower, below] = [0, 0]
  for (const [limit, count] of buckets) {
    if (count >= rank) {
      const upper = limit === Number.POSITIVE_INFINITY ? lower : limit
      return (lower + ((upper - lower) * (rank - below)) / (count - below)) * 1_000
    }
    ;[lower, below] = [limit, count]
  }
  return lower * 1_000
}
