/**
 * `npm run chaos`: a service of its own under load, its processes killed and stopped at
 * random, its card network misbehaving; at the end, an audit of all records. Exit code 0: nothing was found.
 */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { stopOnSignals } from '../../scripts/command-line/ending.js'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { listOf, wholeNumber } from '../../scripts/command-line/values.js'
import { type CrashPoint, isCrashPoint } from '../support/crash-steps.js'
import { decimalNumber, logFile } from '../support/option-values.js'
import { runChaos, type Verdict } from './run-chaos.js'
import type { Pace } from './trouble.js'

interface ChaosArguments {
  readonly minutes: number
  readonly rate: number
  readonly seed: number
  readonly every: number
  readonly silenceEvery: number
  readonly tamperEvery: number
  readonly freezeEvery: number
  readonly killsOnly?: boolean
  readonly archive?: boolean
  readonly crashPoints: readonly CrashPoint[]
  readonly json?: boolean
  readonly log?: string
}

/** Sleeps and calls together stay below the horizon. */
const STOPPED_MAX_MS = 5_000
const FREEZES = { shortestMs: 3_000, longestMs: 70_000, inARowMax: 3 }

/** Without strikes, silences, tampering and freezes. */
const NO_TROUBLE = { strikeEveryMs: null, stoppedMaxMs: null, silenceEveryMs: null, tamperEveryMs: null, freezes: null }

const command = toolCommand({
  name: 'chaos',
  does: 'Runs a service of its own under load, kills and stops its processes at random, and compares the records of clients, service and network at the end. Needs no `npm start`, and does not touch the data of one. Exit code 0: nothing was found.',
  takes: '--minutes, and up to two more until everything is settled.',
  examples: [
    ['--minutes 10 --rate 100', 'the long one'],
    ['--minutes 5 --rate 60 --archive', 'with payments that move to the archive'],
    ['--minutes 0.5 --rate 15 --crash-points commit.after,requeue.after', 'death at two points']
  ]
})
  .option('--minutes <number>', 'how long payments are sent, such as 0.5', decimalNumber(0.01, 1_440), 1)
  .option('--rate <number>', 'new payments per second', decimalNumber(0.1, 10_000), 50)
  .option('--seed <number>', 'of the dice: who is struck, and when', wholeNumber(0), 1)
  .option('--every <seconds>', 'between two strikes, on average', decimalNumber(0.1, 3_600), 2)
  .option('--silence-every <seconds>', 'between two silences of a Redis', decimalNumber(0.1, 3_600), 30)
  .option(
    '--tamper-every <seconds>',
    'between two changes of a stream by hand, on average',
    decimalNumber(0.1, 3_600),
    5
  )
  .option(
    '--freeze-every <seconds>',
    'from the return of a frozen Redis to the next freeze',
    decimalNumber(1, 3_600),
    60
  )
  .option('--kills-only', 'only kill')
  .addOption(
    new Option('--crash-points <names>', 'no strikes: processes kill themselves at these points, once each')
      .argParser(listOf(crashPoint))
      .default([], 'none')
      .conflicts(['every', 'silenceEvery', 'tamperEvery', 'freezeEvery', 'killsOnly'])
  )
  .option('--archive', 'with an archive: payments of before move meanwhile, and PostgreSQL is struck like all else')
  .option('--json', 'print JSON')
  .option('--log <file>', 'append all that the processes print', logFile)
const { options } = readCommandLine<ChaosArguments>(command)
stopOnSignals()

const verdict = await runChaos({
  root: resolve(import.meta.dirname, '../../..'),
  seconds: Math.round(options.minutes * 60),
  rate: options.rate,
  seed: options.seed,
  pace: 'full',
  ...paceOf(options),
  crashPoints: options.crashPoints,
  isArchiving: options.archive ?? false,
  output: text => {
    if (options.log !== undefined) appendFileSync(options.log, text)
  },
  progress: line => void process.stderr.write(`${line}\n`)
})
const found = Object.values(verdict.findings).flat().length
process.stdout.write(options.json ? `${JSON.stringify(verdict)}\n` : sentences(verdict))
process.exit(found === 0 ? 0 : 1)

function paceOf({ crashPoints, killsOnly, every, silenceEvery, tamperEvery, freezeEvery }: ChaosArguments): Pace {
  if (crashPoints.length > 0) return NO_TROUBLE
  if (killsOnly) return { ...NO_TROUBLE, strikeEveryMs: every * 1_000 }
  return {
    strikeEveryMs: every * 1_000,
    stoppedMaxMs: STOPPED_MAX_MS,
    silenceEveryMs: silenceEvery * 1_000,
    tamperEveryMs: tamperEvery * 1_000,
    freezes: { ...FREEZES, everyMs: freezeEvery * 1_000 }
  }
}

function crashPoint(text: string): CrashPoint {
  if (isCrashPoint(text)) return text
  throw new InvalidArgumentError(
    'A point is a step of test/support/crash-steps.ts with .before or .after, such as commit.after.'
  )
}

function sentences({ findings, ...figures }: Verdict): string {
  const lines = [
    `${figures.payments} payments, ${figures.requests} requests, ${figures.tries} tries in ${figures.seconds} s; ${figures.deliveries} webhooks`,
    ...Object.entries(figures.struck).map(([kind, counts]) => `${kind}: ${listing(counts)}`),
    `lives with a clock that was 90 s wrong: ${figures.shiftedClocks}`,
    ...(figures.crashes.length === 0 ? [] : [`died at: ${figures.crashes.join(', ')}`]),
    ...(figures.archived === null
      ? []
      : [`archive: ${figures.archived.payments} payments, ${figures.archived.returned} of them back in Redis`]),
    `longest outage seen by a client: ${figures.longestOutageMs} ms (99 % below ${figures.outageP99Ms} ms)`,
    ...Object.entries(figures.longestBackMs).map(
      ([from, ms]) =>
        `every process answered after a Redis was ${from}: ${ms === null ? 'none was' : `within ${ms} ms`}`
    ),
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
