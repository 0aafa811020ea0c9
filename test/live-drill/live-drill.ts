/**
 * `npm run live-drill`: sets up a live installation on this machine as docs/ says, and breaks it under load. Exit code 0:
 * nothing was lost, charged twice, unreported or unclear.
 */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { stopOnSignals } from '../../scripts/command-line/ending.js'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { listOf, oneOf, wholeNumber } from '../../scripts/command-line/values.js'
import { decimalNumber, logFile } from '../support/option-values.js'
import { runLiveDrill, type StepResult, stepNames } from './run-drill.js'

interface DrillArguments {
  readonly only?: readonly string[]
  readonly before?: string
  readonly rate: number
  readonly payments: number
  readonly seed: number
  readonly json?: boolean
  readonly log?: string
}

const command = toolCommand({
  name: 'live-drill',
  does: 'Rehearses going live: both Redis with TLS and the files of ops/redis, SERVICE_ENV=live, as root a unix user for each process, a card network and a webhook receiver behind https. Then restarts its durable Redis, rotates the keys of its vault and goes back to the release before and forth again, under load, and compares all books after each step. Needs no `npm start`, and leaves nothing behind. Exit code 0: nothing was lost, charged twice, unreported or unclear.',
  takes: 'about 90 s; with a release before two minutes more, with --payments 10000 some.',
  examples: [
    ['--payments 10000', 'with much that the durable Redis must read again'],
    ['--only first-charge,release-before --before HEAD~1', 'an upgrade and the way back, from that commit'],
    ['--only durable-restart --payments 500 --log drill.log', 'some steps, with what the processes print']
  ]
})
  .option('--only <names>', `only these steps: ${stepNames.join(', ')}`, listOf(oneOf(stepNames)))
  .option('--before <commit>', 'the release before this one (default: the newest one before this commit)')
  .option('--rate <number>', 'new payments per second, in every step', decimalNumber(0.1, 1_000), 10)
  .option('--payments <count>', 'payments that are made before the durable Redis is restarted', wholeNumber(0), 0)
  .option('--seed <number>', 'of the dice', wholeNumber(0), 1)
  .option('--json', 'print one line of JSON per step')
  .option('--log <file>', 'append all that the processes print', logFile)
const { options } = readCommandLine<DrillArguments>(command)
stopOnSignals()

const root = resolve(import.meta.dirname, '../../..')
const results = await runLiveDrill({
  root,
  steps: options.only ?? stepNames,
  ...(options.before === undefined ? {} : { before: options.before }),
  rate: options.rate,
  payments: options.payments,
  seed: options.seed,
  output: text => {
    if (options.log !== undefined) appendFileSync(options.log, text)
  },
  onStep: result => void process.stdout.write(`${options.json ? JSON.stringify(result) : lineOf(result)}\n`)
})
process.exit(results.some(({ state }) => state === 'FAILED') ? 1 : 0)

function lineOf({ name, state, does, expects, seen, payments, findings, tookMs }: StepResult): string {
  const took = `${(tookMs / 1_000).toFixed(1)} s`
  const audit = findings.length === 0 ? 'the audit found nothing' : `${findings.length} findings`
  return [
    `${state.padEnd(7)} ${name} (${took}): ${does}. Expected: ${expects}. Seen: ${seen.replace(/[.]$/, '')}. ${payments} payments, ${audit}.`,
    ...findings.slice(0, 20).map(line => `        ${line}`)
  ].join('\n')
}
