/** How long clients of a chaos run had to wait for the service to answer at all, and what happened meanwhile. */
import type { RequestRecord } from './record.js'
import type { Strike } from './trouble.js'

/** A strike may be felt for a while: those from this long before an outage are told with it (ms). */
const FELT_FOR_MS = 3_000

export interface Outages {
  /** From the first try of a request to its first answer that was no error of the service (ms). */
  readonly longestOutageMs: number
  readonly outageP99Ms: number
  /** Of the requests during which no process was asleep: what kills alone cost. */
  readonly longestKillOutageMs: number
}

export function outagesOf(records: readonly RequestRecord[], strikes: readonly Strike[]): Outages {
  const sleeps = strikes.filter(({ asleepMs }) => asleepMs > 0)
  const isAwake = ({ beganMs, outageMs }: RequestRecord): boolean =>
    sleeps.every(({ atMs, asleepMs }) => atMs > beganMs + (outageMs ?? 0) || atMs + asleepMs + FELT_FOR_MS < beganMs)
  const outages = sortedOutages(records)
  return {
    longestOutageMs: Math.round(outages.at(-1) ?? 0),
    outageP99Ms: Math.round(outages[Math.floor(outages.length * 0.99)] ?? 0),
    longestKillOutageMs: Math.round(sortedOutages(records.filter(isAwake)).at(-1) ?? 0)
  }
}

function sortedOutages(records: readonly RequestRecord[]): number[] {
  return records.flatMap(({ outageMs }) => outageMs ?? []).sort((a, b) => a - b)
}

/** The story of the longest outage: its tries and the strikes around them, in order, by seconds from the first try. */
export function longestOutageStory(records: readonly RequestRecord[], strikes: readonly Strike[]): string[] {
  const [worst] = [...records].sort((a, b) => (b.outageMs ?? 0) - (a.outageMs ?? 0))
  if (worst === undefined) return []
  const { beganMs } = worst
  const endMs = beganMs + (worst.outageMs ?? 0)
  const felt = strikes.flatMap(({ atMs, what, asleepMs }) => {
    if (atMs + asleepMs < beganMs - FELT_FOR_MS || atMs > endMs) return []
    return { atMs, what: asleepMs > 0 ? `${what} for ${Math.round(asleepMs)} ms` : what }
  })
  const tries = worst.failures.map(({ atMs, tookMs, what }) => ({
    atMs,
    what: `${what}, after ${Math.round(tookMs)} ms`
  }))
  return [...felt, ...tries, { atMs: endMs, what: `${worst.key} was answered` }]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, what }) => `${((atMs - beganMs) / 1_000).toFixed(2)} s: ${what}`)
}
