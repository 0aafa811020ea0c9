/** How long clients of a chaos run had to wait for the service to answer at all. */
import type { RequestRecord } from './record.js'
import type { Strike } from './trouble.js'

/** Within this time a silent connection is cut and everything works again (ms). */
export const SILENCE_MAX_MS = 10_000
/** A process that was killed is felt for so long (ms). */
const FELT_FOR_MS = 3_000

export interface Outages {
  /** From the first try of a request to its first answer that was no error of the service (ms). */
  readonly longestOutageMs: number
  readonly outageP99Ms: number
  /** From the silence of a connection, or the request if that came later, without the time in which a process was suspended or just killed. */
  readonly longestSilenceOutageMs: number
}

export function outagesOf(records: readonly RequestRecord[], strikes: readonly Strike[]): Outages {
  const silences = strikes.filter(({ kind }) => kind === 'silenced')
  const sinceSilence = ({ beganMs, outageMs }: RequestRecord): Wait[] => {
    const endMs = beganMs + (outageMs ?? 0)
    return silences
      .filter(({ atMs }) => atMs <= endMs && atMs + SILENCE_MAX_MS >= beganMs)
      .map(({ atMs }) => ({ sinceMs: Math.max(atMs, beganMs), endMs }))
  }
  const outages = records.flatMap(({ outageMs }) => outageMs ?? []).sort((a, b) => a - b)
  return {
    longestOutageMs: Math.round(outages.at(-1) ?? 0),
    outageP99Ms: Math.round(outages[Math.floor(outages.length * 0.99)] ?? 0),
    longestSilenceOutageMs: Math.round(
      Math.max(0, ...records.flatMap(sinceSilence).map(wait => wait.endMs - wait.sinceMs - awayMsDuring(wait, strikes)))
    )
  }
}

interface Wait {
  readonly sinceMs: number
  readonly endMs: number
}

/** For how long at least one process was suspended, or killed and not yet back, while a request was not answered. */
function awayMsDuring({ sinceMs, endMs }: Wait, strikes: readonly Strike[]): number {
  let totalMs = 0
  let countedToMs = sinceMs
  for (const { atMs, suspendedMs, kind } of strikes) {
    const awayMs = kind === 'killed' ? FELT_FOR_MS : suspendedMs
    const backMs = Math.min(atMs + awayMs, endMs)
    totalMs += Math.max(0, backMs - Math.max(atMs, countedToMs))
    countedToMs = Math.max(countedToMs, backMs)
  }
  return totalMs
}
