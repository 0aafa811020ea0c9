/** How long clients of a chaos run had to wait for the service to answer at all, and what happened meanwhile. */
import type { RequestRecord } from './record.js'
import type { Strike } from './trouble.js'

export interface Outages {
  /** From the first try of a request to its first answer that was no error of the service (ms). */
  readonly longestOutageMs: number
  readonly outageP99Ms: number
}

export function outagesOf(records: readonly RequestRecord[]): Outages {
  const outages = records.flatMap(({ outageMs }) => outageMs ?? []).sort((a, b) => a - b)
  return {
    longestOutageMs: Math.round(outages.at(-1) ?? 0),
    outageP99Ms: Math.round(outages[Math.floor(outages.length * 0.99)] ?? 0)
  }
}

/** A strike may be felt for a while: those from this long before an outage are told with it (ms). */
const FELT_FOR_MS = 3_000

/** The story of the longest outage: its tries and the strikes around them, in order, by seconds from the first try. */
export function longestOutageStory(records: readonly RequestRecord[], strikes: readonly Strike[]): string[] {
  const [worst] = records
    .filter(({ failures }) => failures.length > 0)
    .sort((a, b) => (b.outageMs ?? 0) - (a.outageMs ?? 0))
  const [first] = worst?.failures ?? []
  if (worst === undefined || first === undefined) return []
  const endMs = first.atMs + (worst.outageMs ?? 0)
  const felt = strikes.filter(({ atMs }) => atMs > first.atMs - FELT_FOR_MS && atMs < endMs)
  const tries = worst.failures.map(({ atMs, tookMs, what }) => ({
    atMs,
    what: `${what}, after ${Math.round(tookMs)} ms`
  }))
  return [...felt, ...tries, { atMs: endMs, what: `${worst.key} was answered` }]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, what }) => `${((atMs - first.atMs) / 1_000).toFixed(2)} s: ${what}`)
}
