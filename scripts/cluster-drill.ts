/**
 * `npm run cluster-drill`: what a Redis Cluster loses when masters die under load, with and without WAIT_REPLICAS.
 *
 *   npm run cluster-drill -- [--seconds 30] [--rate 30] [--kills 3] [--cut 400] [--seed 1] [--json] [--log file]
 *
 * Four runs: masters that die with a replica in step, and masters that die after losing their replica (`--cut`, ms), each
 * waited for and not waited for. Exit code 0: the runs that wait lost nothing.
 */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type DrillVerdict, runDrill } from './cluster/drill.js'
import { obtainRedis } from './supervisor/redis-binary.js'
import { vendorDir } from './supervisor/redis-pair.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    rate: { type: 'string', default: '30' },
    kills: { type: 'string', default: '3' },
    cut: { type: 'string', default: '400' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    log: { type: 'string' }
  }
})

const root = resolve(import.meta.dirname, '../..')
const progress = (line: string): void => void process.stderr.write(`${line}\n`)
const binary = await obtainRedis(vendorDir(root), progress)
const runs = [
  { name: 'masters die, WAIT_REPLICAS=1', waitReplicas: 1, cutMs: 0 },
  { name: 'masters die cut off, WAIT_REPLICAS=1', waitReplicas: 1, cutMs: Number(values.cut) },
  { name: 'masters die, WAIT_REPLICAS=0', waitReplicas: 0, cutMs: 0 },
  { name: 'masters die cut off, WAIT_REPLICAS=0', waitReplicas: 0, cutMs: Number(values.cut) }
] as const

let isLossy = false
for (const { name, waitReplicas, cutMs } of runs) {
  progress(name)
  const verdict = await runDrill({
    root,
    binary,
    seconds: Number(values.seconds),
    rate: Number(values.rate),
    kills: Number(values.kills),
    seed: Number(values.seed),
    waitReplicas,
    cutMs,
    output: text => {
      if (values.log !== undefined) appendFileSync(values.log, text)
    },
    progress
  })
  if (waitReplicas > 0 && Object.values(verdict.findings).flat().length > 0) isLossy = true
  process.stdout.write(values.json ? `${JSON.stringify({ name, ...verdict })}\n` : sentences(name, verdict))
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
