/**
 * `npm run chaos -- --minutes 10 --rate 100`: a service of its own under load, its processes killed and stopped at
 * random, its card network misbehaving; at the end, an audit of everybody's books. Exit code 0: nothing was found.
 */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isCrashPoint } from '../runtime/crash-points.js'
import { runChaos, type Verdict } from './chaos/run.js'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    rate: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    /** Seconds between two strikes, on average. */
    every: { type: 'string', default: '2' },
    'kills-only': { type: 'boolean', default: false },
    'crash-points': { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    log: { type: 'string' }
  }
})

const verdict = await runChaos({
  root: resolve(import.meta.dirname, '../..'),
  seconds: Math.round(Number(values.minutes) * 60),
  rate: Number(values.rate),
  seed: Number(values.seed),
  pace: 'full',
  strikeEveryMs: Number(values.every) * 1_000,
  isKillsOnly: values['kills-only'],
  crashPoints: values['crash-points'].split(',').filter(isCrashPoint),
  output: text => {
    if (values.log !== undefined) appendFileSync(values.log, text)
  },
  progress: line => void process.stderr.write(`${line}\n`)
})
const found = Object.values(verdict.findings).flat().length
process.stdout.write(values.json ? `${JSON.stringify(verdict)}\n` : sentences(verdict))
process.exit(found === 0 ? 0 : 1)

function sentences({ findings, ...figures }: Verdict): string {
  const lines = [
    `${figures.payments} payments, ${figures.requests} requests, ${figures.tries} tries in ${figures.seconds} s; ${figures.deliveries} webhooks`,
    `killed: ${listing(figures.kills)}`,
    `stopped and continued: ${listing(figures.stops)}`,
    `lives with a clock that was 90 s wrong: ${figures.shiftedClocks}`,
    ...(figures.crashes.length === 0 ? [] : [`died at: ${figures.crashes.join(', ')}`]),
    `longest outage seen by a client: ${figures.longestOutageMs} ms (99 % below ${figures.outageP99Ms} ms)`,
    `  ${figures.longestKillOutageMs} ms while no process was asleep`,
    ...figures.longestOutageStory.map(line => `  ${line}`),
    ...Object.entries(findings).map(([kind, found]) => `${kind}: ${found.length}`),
    ...Object.values(findings).flatMap((found: readonly string[]) => found.slice(0, 20).map(line => `  ${line}`))
  ]
  return `${lines.join('\n')}\n`
}

function listing(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort()
    .map(([name, times]) => `${name} ${times}`)
    .join(', ')
}
