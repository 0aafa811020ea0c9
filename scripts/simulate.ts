/**
 * `npm run simulate -- --seeds 10000`: many runs of the real code in simulated worlds, each with its own faults.
 * `--seed N` plays one run and prints what happens; `--mutant NAME` plants a mistake first. `--failover` loses the last
 * writes of the durable Redis now and then: what is found then is what a failover without WAIT costs. `--by-hand`: people
 * change sales in the acquirer's portal, an operator works off the list of attention, and the network finishes sales later. `--matrix`: no
 * random faults, but a death at every point of every operation, and a second one in the aftermath.
 */
import { parseArgs } from 'node:util'
import { crashMatrix } from './simulation/crash-matrix.js'
import { type MutantName, mutants } from './simulation/mutants.js'
import { type RunResult, runSeed } from './simulation/run.js'
import { type ScenarioName, scenarios } from './simulation/scenarios.js'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    mutant: { type: 'string' },
    failover: { type: 'boolean', default: false },
    'by-hand': { type: 'boolean', default: false },
    matrix: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false }
  }
})

const mutant = values.mutant === undefined ? undefined : knownMutant(values.mutant)
const chosen = {
  isFailingOver: values.failover,
  isTouched: values['by-hand'],
  ...(mutant === undefined ? {} : { mutant })
}
if (values.seed !== undefined) {
  const result = await runSeed({
    seed: Number(values.seed),
    ...chosen,
    trace: line => void process.stdout.write(`${line}\n`)
  })
  for (const violation of result.violations) process.stdout.write(`VIOLATION ${violation}\n`)
  process.stdout.write(`seed ${result.seed}: ${result.events} events, ${result.violations.length} violations\n`)
  process.exit(result.violations.length === 0 ? 0 : 1)
}
if (values.matrix) await runMatrix()
await runMany(Number(values.from), Number(values.seeds))

async function runMatrix(): Promise<never> {
  const lives = new Map<string, number>()
  let failed = 0
  for await (const life of crashMatrix(Object.keys(scenarios) as ScenarioName[], { hasSecondDeaths: true })) {
    lives.set(life.scenario, (lives.get(life.scenario) ?? 0) + 1)
    if (life.violations.length === 0) continue
    failed++
    process.stdout.write(`${life.scenario}, deaths at ${life.points.join(' and ')}: ${life.violations.join('; ')}\n`)
  }
  for (const [scenario, count] of lives) process.stdout.write(`${scenario}: ${count} lives\n`)
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
    const result = await runSeed({ seed, ...chosen })
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
  if (values.json) {
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

function knownMutant(name: string): MutantName {
  if (name in mutants) return name as MutantName
  process.stderr.write(`There is no mutant "${name}". Known: ${Object.keys(mutants).join(', ')}\n`)
  process.exit(1)
}
