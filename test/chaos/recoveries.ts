/** How long the service took to answer again after a Redis was out of reach, as observer-thread.ts measured it. */

export interface Recovery {
  /** `frozen`: from the return of the server. `silenced`: from the moment at which its connections carry nothing any more. */
  readonly from: 'frozen' | 'silenced'
  readonly victim: string
  /** Each freeze, when there were several in a row; empty: silenced. */
  readonly lastedMs: readonly number[]
  /** Until all processes answered; null: some did not for a minute. */
  readonly backMs: number | null
}

/** What docs/OPERATIONS.md promises of each (ms). */
const BACK_MAX_MS: Readonly<Record<Recovery['from'], number>> = { frozen: 5_000, silenced: 10_000 }

/** The longest of a kind; null: there was none. */
export function longestBackMs(recoveries: readonly Recovery[], kind: Recovery['from']): number | null {
  const times = recoveries.flatMap(({ from, backMs }) => (from === kind ? (backMs ?? Number.POSITIVE_INFINITY) : []))
  return times.length === 0 ? null : Math.max(...times)
}

/** Those that took too long, as sentences. */
export function lateRecoveries(recoveries: readonly Recovery[]): string[] {
  return recoveries
    .filter(({ from, backMs }) => backMs === null || backMs > BACK_MAX_MS[from])
    .map(({ from, victim, lastedMs, backMs }) => {
      const lasted = lastedMs.length === 0 ? '' : ` for ${lastedMs.join(', ')} ms`
      const back = backMs === null ? 'some process did not answer for a minute' : `all answered after ${backMs} ms`
      return `${victim} was ${from}${lasted}: ${back}`
    })
}
