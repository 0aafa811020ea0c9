/** How long clients of a chaos run had to wait for the service to answer at all, and what happened meanwhile. */
import type { RequestRecord } from './record.js'
import type { Strike } from './trouble.js'

/** Within this time a silent connection is cut and everything works again (ms). */
export const SILENCE_MAX_MS = 10_000
/** A strike may be felt for a while: those from this long before an outage are told with it (ms). */
const FELT_FOR_MS = 3_000

export interface Outages {
  /** From the first try of a request to its first answer that was no error of the service (ms). */
  readonly longestOutageMs: number
  readonly outageP99Ms: number
  /** Of the requests during which no process was asleep and no connection silent: what kills alone cost. */
  readonly longestKillOutageMs: number
  /** Of the requests during which a connection was silent, and no process asleep. */
  readonly longestSilenceOutageMs: number
}

export function outagesOf(records: readonly RequestRecord[], strikes: readonly Strike[]): Outages {
  const meets = (kind: Strike['kind'], lastsMs: number): ((record: RequestRecord) => boolean) => {
    const some = strikes.filter(strike => strike.kind === kind)
    return ({ beganMs, outageMs }) =>
      some.some(({ atMs, asleepMs }) => atMs <= beganMs + (outageMs ?? 0) && atMs + asleepMs + lastsMs >= beganMs)
  }
  const [isAsleep, isSilent] = [meets('stopped', FELT_FOR_MS), meets('silenced', SILENCE_MAX_MS)]
  const awake = records.filter(record => !isAsleep(record))
  return {
    longestOutageMs: outageAt(records, 1),
    outageP99Ms: outageAt(records, 0.99),
    longestKillOutageMs: outageAt(
      awake.filter(record => !isSilent(record)),
      1
    ),
    longestSilenceOutageMs: outageAt(awake.filter(isSilent), 1)
  }
}

/** The outage that this share of the requests did not exceed (ms); 0 without requests. */
function outageAt(records: readonly RequestRecord[], share: number): number {
  const sorted = records.flatMap(({ outageMs }) => outageMs ?? []).sort((a, b) => a - b)
  return Math.round(sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0)
}

/** The story of the longest outage: its tries and the strikes around them, in order, by seconds from the first try. */
export function longestOutageStory(records: readonly RequestRecord[], strikes: readonly Strike[]): string[] {
  const [worst] = [...records].sort((a, b) => (b.outageMs ?? 0) - (a.outageMs ?? 0))
  if (worst === undefined) return []
  const { beganMs } = worst
  const endMs = beganMs + (worst.outageMs ?? 0)
  const felt = strikes.flatMap(({ atMs, kind, victim, asleepMs }) => {
    if (atMs + asleepMs < beganMs - FELT_FOR_MS || atMs > endMs) return []
    return { atMs, what: `${kind} ${victim}${asleepMs > 0 ? ` for ${Math.round(asleepMs)} ms` : ''}` }
  })
  const tries = worst.failures.map(({ atMs, tookMs, what }) => ({
    atMs,
    what: `${what}, after ${Math.round(tookMs)} ms`
  }))
  return [...felt, ...tries, { atMs: endMs, what: `${worst.key} was answered` }]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, what }) => `${((atMs - beganMs) / 1_000).toFixed(2)} s: ${what}`)
}
