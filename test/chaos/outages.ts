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
  /** Of the requests that met a silent connection, without the time in which a process was suspended or just killed. */
  readonly longestSilenceOutageMs: number
}

export function outagesOf(records: readonly RequestRecord[], strikes: readonly Strike[]): Outages {
  const silences = strikes.filter(({ kind }) => kind === 'silenced')
  const isSilent = ({ beganMs, outageMs }: RequestRecord): boolean =>
    silences.some(({ atMs }) => atMs <= beganMs + (outageMs ?? 0) && atMs + SILENCE_MAX_MS >= beganMs)
  const outages = records.flatMap(({ outageMs }) => outageMs ?? []).sort((a, b) => a - b)
  return {
    longestOutageMs: Math.round(outages.at(-1) ?? 0),
    outageP99Ms: Math.round(outages[Math.floor(outages.length * 0.99)] ?? 0),
    longestSilenceOutageMs: Math.round(
      Math.max(0, ...records.filter(isSilent).map(record => (record.outageMs ?? 0) - awayMsDuring(record, strikes)))
    )
  }
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
