/**
 * `npm run cluster-drill`: what a Redis Cluster loses when masters die under load, with and without WAIT_REPLICAS.
 *
 * Four runs: masters that die with a replica in step, and masters that die after losing their replica (`--cut`, ms), each
 * waited for and not waited for. Exit code 0: the runs that wait lost nothing.
 */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { stopOnSignals } from '../../scripts/command-line/ending.js'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { decimalNumber, logFile, wholeNumber } from '../../scripts/command-line/values.js'
import { vendorDir } from '../../scripts/start/databases.js'
import { obtainRedis } from '../../scripts/start/redis-binary.js'
import { type DrillVerdict, runDrill } from './drill.js'

interface DrillArguments {
  readonly seconds: number
  readonly rate: number
  readonly kills: number
  readonly cut: number
  readonly seed: number
  readonly json?: boolean
  readonly log?: string
}

const command = toolCommand({
  name: 'cluster-drill',
  does: 'Runs a service of its own on a Redis Cluster under load, kills masters, and compares the records of clients, service and network: with WAIT_REPLICAS and without, with a replica in step and after losing it. Needs no `npm start`. Exit code 0: the runs that wait lost nothing.',
  takes: 'four runs of --seconds, and up to two minutes after each until everything is settled.',
  examples: [['--seconds 20 --rate 20 --kills 2 --log drill.log', 'a short one, with what the processes print']]
})
  .option('--seconds <number>', 'how long payments are sent in each run', decimalNumber(1, 3_600), 30)
  .option('--rate <number>', 'new payments per second', decimalNumber(0.1, 10_000), 30)
  .option('--kills <count>', 'masters that are killed in each run', wholeNumber(1, 100), 3)
  .option('--cut <ms>', 'how long a master goes on without its replica before it dies', wholeNumber(0, 60_000), 400)
  .option('--seed <number>', 'of the dice', wholeNumber(0), 1)
  .option('--json', 'print one line of JSON per run')
  .option('--log <file>', 'append all that the processes print', logFile)
const { options } = readCommandLine<DrillArguments>(command)
stopOnSignals()

const root = resolve(import.meta.dirname, '../../..')
const progress = (line: string): void => void process.stderr.write(`${line}\n`)
const binary = await obtainRedis(vendorDir(root), progress)
const runs = [
  { name: 'masters die, WAIT_REPLICAS=1', waitReplicas: 1, cutMs: 0 },
  { name: 'masters die cut off, WAIT_REPLICAS=1', waitReplicas: 1, cutMs: options.cut },
  { name: 'masters die, WAIT_REPLICAS=0', waitReplicas: 0, cutMs: 0 },
  { name: 'masters die cut off, WAIT_REPLICAS=0', waitReplicas: 0, cutMs: options.cut }
] as const

let isLossy = false
for (const { name, waitReplicas, cutMs } of runs) {
  progress(name)
  const verdict = await runDrill({
    root,
    binary,
    seconds: options.seconds,
    rate: options.rate,
    kills: options.kills,
    seed: options.seed,
    waitReplicas,
    cutMs,
    output: text => {
      if (options.log !== undefined) appendFileSync(options.log, text)
    },
    progress
  })
  if (waitReplicas > 0 && Object.values(verdict.findings).flat().length > 0) isLossy = true
  process.stdout.write(options.json ? `${JSON.stringify({ name, ...verdict })}\n` : sentences(name, verdict))
}
process.exit(isLossy ? 1 : 0)

function sentences(name: string, { findings, ...figures }: DrillVerdict): string {
  const lines = [
    `${name}: ${figures.payments} payments, ${figures.requests} requests, ${figures.tries} tries`,
    `  replicas took over after ${figures.failoversMs.join(', ')} ms; longest outage seen by a client ${figures.longestOutageMs} ms (99 % below ${figures.outageP99Ms} ms)`,
    ...Object.entries(findings).map(([kind, found]: [string, readonly string[]]) => `  ${kind}: ${found.length}`),
    ...Object.values(findings).flatMap((found: readonly string[]) => found.slice(0, 5).map(line => `    ${line}`))
  ]
  return `${lines.join('\n')}\n`
}
