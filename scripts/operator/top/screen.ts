/** What `operator top` shows: plain lines of at most 80 characters. */
import type { Flow } from './figures.js'

const WIDTH = 80
/** As many payments for review as leave room for the processes. */
const REVIEWS_SHOWN = 5

/** Everything of one moment, also for `--json`. Times in ms. */
export interface Overview {
  readonly at: string
  readonly environment: string
  readonly flows: Readonly<Record<string, Flow>>
  readonly waiting: number
  readonly in_work: number
  readonly oldest_ms: number | null
  readonly wake_ups_due: number
  readonly to_reconcile: number
  readonly dead_letters: number
  /** Payments in doubt for at least so many seconds. */
  readonly in_doubt: Readonly<Record<string, number>>
  readonly workers: number
  readonly review: readonly { readonly payment_id: string; readonly reason: string }[]
  readonly processes: readonly { readonly name: string; readonly state: string }[]
}

export function screenOf(overview: Overview): string {
  const { at, environment, flows, review, processes, in_doubt: doubt } = overview
  const oldest = overview.oldest_ms === null ? '-' : `${(overview.oldest_ms / 1_000).toFixed(1)} s`
  const lines = [
    `card payments, ${environment}   ${at}   Ctrl-C ends`,
    '',
    `${'LAST SECONDS'.padEnd(26)}${['PER SECOND', 'P50', 'P99'].map(cell => cell.padStart(12)).join('')}`,
    ...Object.entries(flows).map(([name, flow]) => flowLine(name, flow)),
    '',
    `COMMANDS  ${overview.waiting} waiting, ${overview.in_work} in work, oldest ${oldest}, ${overview.workers} workers`,
    `DUE       ${overview.wake_ups_due} wake-ups, ${overview.to_reconcile} reconciliations`,
    `IN DOUBT  ${doubt['0'] ?? 0}, of these ${doubt['60'] ?? 0} for a minute, ${doubt['600'] ?? 0} for ten, ${doubt['3600'] ?? 0} for an hour`,
    `DEAD      ${overview.dead_letters} letters`,
    `REVIEW    ${review.length} payments`,
    ...review.slice(0, REVIEWS_SHOWN).map(({ payment_id: id, reason }) => `          ${id} ${reason}`),
    ...(review.length > REVIEWS_SHOWN ? ['          … (payment attention)'] : []),
    '',
    `PROCESSES ${processes.length === 0 ? 'no address is known (--ops)' : processes.length}`,
    ...processes.map(({ name, state }) => `  ${name.padEnd(36)} ${state}`)
  ]
  return lines.map(fit).join('\n')
}

function flowLine(name: string, { perSecond, p50Ms, p99Ms }: Flow): string {
  const cells = [perSecond.toFixed(1), ...[p50Ms, p99Ms].map(ms => (ms === null ? '-' : `${Math.round(ms)} ms`))]
  return `${name.padEnd(26)}${cells.map(cell => cell.padStart(12)).join('')}`
}

function fit(line: string): string {
  return line.length <= WIDTH ? line : `${line.slice(0, WIDTH - 1)}…`
}
