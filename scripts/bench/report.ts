/** The figures as docs/BENCHMARKS.md. */
import { cpus } from 'node:os'
import { kneeOf, type OpenLoopFigures, type OpenLoopRow } from './overhead.js'
import { type SystemFigures, throughputOf } from './side-by-side.js'

export interface Report {
  readonly at: string
  /** Where the data lay. */
  readonly dir: string
  readonly rounds: number
  readonly connections: number
  readonly sideBySide: readonly SystemFigures[]
  /** Null: not measured. */
  readonly openLoop: OpenLoopFigures | null
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
    ...openLoopLines(report.openLoop),
    '',
    `Money: ${report.ledger}`,
    ''
  ].join('\n')
}

/** One row of the table of systems. */
function sideBySideRow(figures: SystemFigures): string {
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

function openLoopLines(figures: OpenLoopFigures | null): string[] {
  if (figures === null) return []
  const { throughput, curve, ownTime } = figures
  return [
    ...tableOf(`As more arrives, open loop up to ${throughput.toFixed(0)}/s, medians of three turns`, curve),
    '',
    `The knee, where throughput over p50 is at its greatest (Kleinrock's power), is at **${kneeOf(curve).toFixed(0)}** arrivals/s.`,
    ...tableOf('Own time at half of the knee, medians of three turns', ownTime)
  ]
}

function tableOf(title: string, rows: readonly OpenLoopRow[]): string[] {
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
