/** The figures as docs/BENCHMARKS.md. */
import { cpus } from 'node:os'
import type { GrowthRow, Times } from './growth.js'
import type { LoadResult } from './load.js'
import type { Operation } from './operations.js'
import { kneeOf, type OpenLoopFigures, type OpenLoopRow } from './overhead.js'
import type { ScalingRow } from './scaling.js'
import { type SystemFigures, throughputOf } from './side-by-side.js'

export interface Report {
  readonly at: string
  /** Where the data lay. */
  readonly dir: string
  readonly rounds: number
  readonly connections: number
  readonly sideBySide: readonly SystemFigures[]
  /** With the data in `dir`. Null: not measured. */
  readonly openLoop: OpenLoopFigures | null
  /** The same with the data in memory. Null: not measured, or no such folder on this machine. */
  readonly inMemory: OpenLoopFigures | null
  readonly slowNetwork: readonly OpenLoopRow[]
  readonly operations: Readonly<Record<Operation, LoadResult>> | null
  readonly growth: readonly GrowthRow[]
  readonly scaling: readonly ScalingRow[]
  readonly ledger: string
}

export function ratioTo(report: Report, rival: string): number {
  return throughputOf(report.sideBySide, { name: 'service' }) / throughputOf(report.sideBySide, { name: rival })
}

export function renderReport(report: Report): string {
  return [
    '# Benchmarks',
    '',
    `Written by \`npm run bench -- --write\` at ${report.at}, on ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version},`,
    `Redis with \`appendfsync always\`, its files in ${report.dir}. Machines are shared: only ratios within one run mean anything.`,
    '',
    `## Side by side: ${report.rounds} rounds in turn, closed loop, ${report.connections} connections`,
    '',
    '* `bare`: koa + koa-body + XADD -> XREADGROUP -> HSET, PUBLISH, XACK -> reply. No rules, no lock, no network.',
    '* `bullmq`: BullMQ behind koa, `add` and `waitUntilFinished` of an empty job.',
    '* `service`: a whole payment: authentication, Ajv, idempotency, token opened, lock, chart, durable commits, HTTP to the network.',
    '',
    '| system | requests/s (median, range) | p50 ms | p99 ms | p99.9 ms | CPU us per request, by process |',
    '|---|---|---|---|---|---|',
    ...report.sideBySide.map(sideBySideRow),
    '',
    `Ratio of the service to \`bullmq\`: **${ratioTo(report, 'bullmq').toFixed(2)}**, to \`bare\`: **${ratioTo(report, 'bare').toFixed(2)}**.`,
    ...report.sideBySide.flatMap(costLines),
    ...ownTimeLines('On this disk', report.openLoop),
    ...ownTimeLines('Without a disk: the Redis files in memory', report.inMemory),
    ...openLoopLines("With a real acquirer's times (median 1.5 s, 1 % beyond 8 s), open loop", report.slowNetwork),
    ...operationLines(report),
    ...growthLines(report),
    ...scalingLines(report),
    '',
    `Money: ${report.ledger}`,
    ''
  ].join('\n')
}

/** One row of the table of systems. */
export function sideBySideRow(figures: SystemFigures): string {
  const { perSecond: rate } = figures
  const cpu = Object.entries(figures.cpuUs).map(([name, us]) => `${name} ${us.toFixed(0)}`)
  const range = `${rate.median.toFixed(0)} (${rate.min.toFixed(0)}–${rate.max.toFixed(0)})`
  return `| ${figures.name} | ${range} | ${timesOf(figures)} | ${cpu.join(', ')} |`
}

function timesOf(times: { p50Ms: number; p99Ms: number; p999Ms: number }): string {
  return [times.p50Ms, times.p99Ms, times.p999Ms].map(ms => ms.toFixed(1)).join(' | ')
}

function costLines(figures: SystemFigures): string[] {
  if (figures.redisCommands === null || figures.redisBytes === null) return []
  return [
    '',
    `The service costs ${figures.redisCommands.toFixed(1)} commands of the durable Redis per payment (those inside scripts included) and leaves ${figures.redisBytes.toFixed(0)} bytes in it.`
  ]
}

function openLoopLines(title: string, rows: readonly OpenLoopRow[]): string[] {
  if (rows.length === 0) return []
  return [
    '',
    `## ${title}`,
    '',
    '| system | arrivals/s | requests | p50 ms | p99 ms | p99.9 ms | longest fsync ms | statuses |',
    '|---|---|---|---|---|---|---|---|',
    ...rows.map(({ system, perSecond, result, slowestFsyncMs }) => {
      const statuses = JSON.stringify(result.statuses)
      return `| ${system} | ${perSecond.toFixed(0)} | ${result.requests} | ${timesOf(result)} | ${slowestFsyncMs.toFixed(0)} | ${statuses} |`
    })
  ]
}

function ownTimeLines(where: string, figures: OpenLoopFigures | null): string[] {
  if (figures === null) return []
  const { throughput, curve, ownTime } = figures
  return [
    ...openLoopLines(
      `${where}: as more arrives, open loop up to ${throughput.service.toFixed(0)}/s, medians of three turns`,
      curve
    ),
    '',
    `The knee, where throughput over p50 is at its greatest (Kleinrock's power), is at **${kneeOf(curve).toFixed(0)}** arrivals/s.`,
    ...openLoopLines(
      `${where}: own time at half of the knee, and at half of the throughput, medians of three turns`,
      ownTime
    )
  ]
}

function operationLines({ operations }: Report): string[] {
  if (operations === null) return []
  return [
    '',
    '## Other operations, closed loop',
    '',
    '| operation | requests/s | p50 ms | p99 ms | p99.9 ms |',
    '|---|---|---|---|---|',
    ...Object.entries(operations).map(
      ([name, result]) => `| ${name} | ${result.perSecond.toFixed(0)} | ${timesOf(result)} |`
    )
  ]
}

function growthLines({ growth }: Report): string[] {
  if (growth.length === 0) return []
  const cell = ({ p50Ms, p99Ms, slowestFsyncMs }: Times): string =>
    `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} (${slowestFsyncMs.toFixed(0)})`
  return [
    '',
    '## As payments pile up: 200 requests/s each, p50 / p99 ms, medians of three measurements',
    '',
    'In brackets the longest that Redis waited for an fsync meanwhile (0: less than 1 ms): all requests of that moment wait with it, GET and list too.',
    '',
    '| payments | GET | list | create | create while Redis rewrites its file |',
    '|---|---|---|---|---|',
    ...growth.map(({ payments, read, list, create, createDuringRewrite: during }) => {
      return `| ${payments} | ${[read, list, create, during].map(cell).join(' | ')} |`
    })
  ]
}

function scalingLines({ scaling }: Report): string[] {
  if (scaling.length === 0) return []
  return [
    '',
    `## More processes on ${cpus().length} cores, closed loop`,
    '',
    '| `api` | `payments` | payments/s (median, range) |',
    '|---|---|---|',
    ...scaling.map(({ api, payments, perSecond: rate }) => {
      return `| ${api} | ${payments} | ${rate.median.toFixed(0)} (${rate.min.toFixed(0)}–${rate.max.toFixed(0)}) |`
    })
  ]
}
