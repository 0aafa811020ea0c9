/**
 * `npm run simulate`: many runs of the real code in simulated worlds, each with its own faults; or one of them, step by
 * step; or no random faults, but a death or a long sleep at every point of every operation, and a second death afterwards.
 *
 * What `--failover unconfirmed` finds is what a failover without WAIT costs.
 */
import { Option } from 'commander'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { oneOf, wholeNumber } from '../../scripts/command-line/values.js'
import { runAnySeed } from './any-world.js'
import { crashMatrix, sleepMatrix } from './crash-matrix.js'
import { type MutantName, mutants } from './mutants.js'
import type { RunResult } from './run-world.js'
import { type ScenarioName, scenarios } from './scenarios.js'
import type { NetworkTrouble } from './simulated-network.js'

interface SimulateOptions {
  readonly seeds: number
  readonly from: number
  readonly seed?: number
  readonly mutant?: MutantName
  readonly failover?: 'unconfirmed' | 'confirmed'
  readonly restored?: boolean
  readonly tampered?: boolean
  readonly byHand?: boolean
  readonly network?: NetworkTrouble
  readonly secrets?: 'lockless' | 'away'
  readonly archive?: boolean
  readonly contrary?: boolean
  readonly matrix?: boolean
  readonly json?: boolean
}

const command = toolCommand({
  name: 'simulate',
  does: 'Runs the real code in simulated worlds with faults of all kinds, and compares the records of clients, service and network after each. A seed is a world: the same number is the same run. Needs no `npm start` and no Redis. Exit code 0: no violation.',
  takes: 'some minutes for 1000 seeds, and for --matrix.',
  examples: [
    ['--seeds 10000', 'the proof'],
    ['--seed 4711', 'one world, step by step'],
    ['--mutant no-horizon', 'with a mistake planted first, to see that it is found']
  ]
})
  .option('--seeds <count>', 'how many worlds', wholeNumber(1), 1_000)
  .option('--from <seed>', 'the first of them', wholeNumber(0), 1)
  .addOption(
    new Option('--seed <seed>', 'this world alone, and all that happens in it')
      .argParser(wholeNumber(0))
      .conflicts(['seeds', 'from', 'json'])
  )
  .option(
    '--mutant <name>',
    `plant a mistake: ${Object.keys(mutants).join(', ')}`,
    oneOf(Object.keys(mutants) as MutantName[])
  )
  .option(
    '--failover <writes>',
    'lose the last writes of the durable Redis now and then: `unconfirmed`, or `confirmed`, where those that count wait for a replica (WAIT_REPLICAS=1)',
    oneOf(['unconfirmed', 'confirmed'])
  )
  .option('--tampered', 'streams and their groups are changed by hand, while workers die')
  .option('--restored', 'the durable data goes back to a copy of before, and an operator accepts it')
  .option('--by-hand', 'sales change in the portal of the acquirer; an operator works through the manual review list')
  .option(
    '--network <trouble>',
    'away: the card network is away for ten minutes; denying: queries reach a host that denies every sale; throttled: a gateway answers 429 and 503 for two minutes',
    oneOf(['away', 'denying', 'throttled'] satisfies NetworkTrouble[])
  )
  .option(
    '--secrets <trouble>',
    'the memory-only Redis: `lockless` (no payment is ever locked) or `away` (for longer than a new payment may wait)',
    oneOf(['lockless', 'away'])
  )
  .option('--archive', 'all worlds have an archive, instead of one in ten')
  .addOption(
    new Option(
      '--contrary',
      'all worlds have an acquirer whose answers contradict its ledger, instead of one in five'
    ).conflicts(['mutant', 'failover', 'restored', 'byHand', 'network', 'secrets', 'archive'])
  )
  .addOption(
    new Option(
      '--matrix',
      'no random faults, but a death or a long sleep at every point of every operation, and a second death after it'
    ).conflicts([
      'seeds',
      'from',
      'seed',
      'mutant',
      'failover',
      'tampered',
      'byHand',
      'network',
      'secrets',
      'archive',
      'json'
    ])
  )
  .option('--json', 'print JSON')
const { options } = readCommandLine<SimulateOptions>(command)

const chosen = {
  ...(options.failover === undefined ? {} : { failover: options.failover }),
  isTampered: options.tampered ?? false,
  isTouched: options.byHand ?? false,
  ...(options.archive ? { hasArchive: true } : {}),
  ...(options.contrary ? { isContrary: true } : {}),
  ...(options.restored ? { isRestored: true } : {}),
  ...(options.network === undefined ? {} : { trouble: options.network }),
  ...(options.secrets === undefined ? {} : { secrets: options.secrets }),
  ...(options.mutant === undefined ? {} : { mutant: options.mutant })
}
if (options.seed !== undefined) {
  const result = await runAnySeed({
    seed: options.seed,
    ...chosen,
    trace: line => void process.stdout.write(`${line}\n`)
  })
  for (const violation of result.violations) process.stdout.write(`VIOLATION ${violation}\n`)
  process.stdout.write(`seed ${result.seed}: ${result.events} events, ${result.violations.length} violations\n`)
  process.exit(result.violations.length === 0 ? 0 : 1)
}
if (options.matrix) await runMatrix()
await runMany(options.from, options.seeds)

async function runMatrix(): Promise<never> {
  const names = Object.keys(scenarios) as ScenarioName[]
  const matrices = [
    ['dead', crashMatrix(names, { hasSecondDeaths: true, tried: null })],
    ...names.map(name => ['suspended', sleepMatrix(name, { tried: null })] as const)
  ] as const
  const lives = new Map<string, number>()
  let failed = 0
  for (const [what, matrix] of matrices) {
    for await (const { scenario, points, violations } of matrix) {
      const kind = `${scenario}, ${what}`
      lives.set(kind, (lives.get(kind) ?? 0) + 1)
      if (violations.length === 0) continue
      failed++
      process.stdout.write(`${kind} at ${points.join(' and ')}: ${violations.join('; ')}\n`)
    }
  }
  for (const [kind, count] of lives) process.stdout.write(`${kind}: ${count} lives\n`)
  process.stdout.write(failed === 0 ? 'no violation\n' : `${failed} lives with violations\n`)
  process.exit(failed === 0 ? 0 : 1)
}

async function runMany(from: number, count: number): Promise<void> {
  const began = performance.now()
  const counts = new Map<string, number>()
  const failed: RunResult[] = []
  let payments = 0
  let requests = 0
  for (let seed = from; seed < from + count; seed++) {
    const result = await runAnySeed({ seed, ...chosen })
    payments += result.payments
    requests += result.requests
    for (const [kind, times] of result.counts) counts.set(kind, (counts.get(kind) ?? 0) + times)
    if (result.violations.length > 0) failed.push(result)
    // Lets signals and output through.
    if (seed % 50 === 0) await new Promise(resolve => setImmediate(resolve))
  }
  const seconds = (performance.now() - began) / 1_000
  report({ count, seconds, payments, requests, counts, failed })
  process.exit(failed.length === 0 ? 0 : 1)
}

function report(total: {
  count: number
  seconds: number
  payments: number
  requests: number
  counts: ReadonlyMap<string, number>
  failed: readonly RunResult[]
}): void {
  const { count, seconds, payments, requests, failed } = total
  const faults = Object.fromEntries([...total.counts].sort())
  if (options.json) {
    const runs = failed.map(({ seed, violations }) => ({ seed, violations }))
    process.stdout.write(`${JSON.stringify({ seeds: count, seconds, payments, requests, faults, failed: runs })}\n`)
    return
  }
  for (const { seed, violations } of failed.slice(0, 20)) {
    process.stdout.write(
      `seed ${seed}\n${violations
        .slice(0, 6)
        .map(line => `  ${line}\n`)
        .join('')}`
    )
  }
  process.stdout.write(`${count} seeds in ${seconds.toFixed(1)} s: ${payments} payments, ${requests} requests\n`)
  for (const [kind, times] of Object.entries(faults)) process.stdout.write(`  ${kind}: ${times}\n`)
  process.stdout.write(failed.length === 0 ? 'no violation\n' : `${failed.length} seeds with violations\n`)
}
