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
  /** Of the requests during which no process was suspended and no connection silent: what kills alone cost. */
  readonly longestKillOutageMs: number
  /** Of the requests that met a silent connection, without the time in which a process was suspended or just killed. */
  readonly longestSilenceOutageMs: number
}

export function outagesOf(records: readonly RequestRecord[], strikes: readonly Strike[]): Outages {
  const meeting = (kinds: readonly Strike['kind'][], lastsMs: number): ((record: RequestRecord) => boolean) => {
    const ofKind = strikes.filter(({ kind }) => kinds.includes(kind))
    return ({ beganMs, outageMs }) =>
      ofKind.some(
        ({ atMs, suspendedMs }) => atMs <= beganMs + (outageMs ?? 0) && atMs + suspendedMs + lastsMs >= beganMs
      )
  }
  const [isSuspended, isSilent] = [meeting(['stopped', 'frozen'], FELT_FOR_MS), meeting(['silenced'], SILENCE_MAX_MS)]
  const outages = sortedOutages(records)
  return {
    longestOutageMs: Math.round(outages.at(-1) ?? 0),
    outageP99Ms: Math.round(outages[Math.floor(outages.length * 0.99)] ?? 0),
    longestKillOutageMs: Math.round(
      sortedOutages(records.filter(record => !isSuspended(record) && !isSilent(record))).at(-1) ?? 0
    ),
    longestSilenceOutageMs: Math.round(
      Math.max(0, ...records.filter(isSilent).map(record => (record.outageMs ?? 0) - awayMsDuring(record, strikes)))
    )
  }
}

function sortedOutages(records: readonly RequestRecord[]): number[] {
  return records.flatMap(({ outageMs }) => outageMs ?? []).sort((a, b) => a - b)
}

/** For how long at least one process was suspended, or killed and not yet back, while the request was not answered. */
function awayMsDuring({ beganMs, outageMs }: RequestRecord, strikes: readonly Strike[]): number {
  let totalMs = 0
  let countedToMs = beganMs
  for (const { atMs, suspendedMs, kind } of strikes) {
    const awayMs = kind === 'killed' ? FELT_FOR_MS : suspendedMs
    const endMs = Math.min(atMs + awayMs, beganMs + (outageMs ?? 0))
    totalMs += Math.max(0, endMs - Math.max(atMs, countedToMs))
    countedToMs = Math.max(countedToMs, endMs)
  }
  return totalMs
}

/** The story of the longest outage: its tries and the strikes around them, in order, by seconds from the first try. */
export function longestOutageStory(records: readonly RequestRecord[], strikes: readonly Strike[]): string[] {
  const [worst] = [...records].sort((a, b) => (b.outageMs ?? 0) - (a.outageMs ?? 0))
  if (worst === undefined) return []
  const { beganMs } = worst
  const endMs = beganMs + (worst.outageMs ?? 0)
  const felt = strikes.flatMap(({ atMs, kind, victim, suspendedMs }) => {
    if (atMs + suspendedMs < beganMs - FELT_FOR_MS || atMs > endMs) return []
    return { atMs, what: `${kind} ${victim}${suspendedMs > 0 ? ` for ${Math.round(suspendedMs)} ms` : ''}` }
  })
  const tries = worst.failures.map(({ atMs, tookMs, what }) => ({
    atMs,
    what: `${what}, after ${Math.round(tookMs)} ms`
  }))
  return [...felt, ...tries, { atMs: endMs, what: `${worst.key} was answered` }]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, what }) => `${((atMs - beganMs) / 1_000).toFixed(2)} s: ${what}`)
}
