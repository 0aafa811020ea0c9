/**
 * `npm run bench`: the service beside an empty job queue and a bare pipeline, in one run on one machine.
 *
 *   npm run bench -- [--rounds 5] [--payments 6000] [--connections 128] [--growth 1000,100000] [--dir DIR]
 *                   [--quick] [--json] [--write]
 *
 * Every system gets the same Redis settings (`appendfsync always`), the same load generator and the same body, is warmed up,
 * and is measured in turn, round by round. `--quick` measures the ratios alone; `--write` writes docs/BENCHMARKS.md.
 * `--dir` is where the data lies, the Redis files included. `--cluster` compares nothing but one Redis with a Cluster, and
 * with replicas that are waited for.
 */
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { compareWithCluster } from './bench/cluster.js'
import { measureGrowth } from './bench/growth.js'
import { measureInMemory } from './bench/in-memory.js'
import { checkLedger } from './bench/ledger.js'
import { measureOperations } from './bench/operations.js'
import { measureOpenLoop, measureWithSlowNetwork } from './bench/overhead.js'
import { type Report, ratioTo, renderReport } from './bench/report.js'
import { measureScaling } from './bench/scaling.js'
import { measureSideBySide, throughputOf } from './bench/side-by-side.js'
import { onStage, type Stage } from './bench/stage.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    payments: { type: 'string', default: '6000' },
    connections: { type: 'string', default: '128' },
    growth: { type: 'string', default: '1000,100000' },
    dir: { type: 'string', default: tmpdir() },
    quick: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false }
  }
})

const tell = (line: string): void => void process.stderr.write(`${line}\n`)
const rounds = Number(values.rounds)
const connections = Number(values.connections)
const payments = Number(values.payments)

if (values.cluster) {
  const { table } = await compareWithCluster({ rounds, payments, connections }, tell)
  process.stdout.write(table)
  process.exit(0)
}

const isWhole = !values.quick
const measured = await onStage(values.dir, tell, measure)
// Each of the following parts is alone on the machine: what came before is stopped.
const inMemory = isWhole ? await measureInMemory({ payments, connections }, tell) : null
const scaling = isWhole ? await measureScaling(values.dir, { total: payments, connections }, tell) : []
const report: Report = { ...measured, inMemory, scaling }
if (values.write) await writeFile('docs/BENCHMARKS.md', renderReport(report))
process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : renderReport(report))
tell(`ratio to bullmq ${ratioTo(report, 'bullmq').toFixed(2)}, to bare ${ratioTo(report, 'bare').toFixed(2)}`)

async function measure({ service, bare, bullmq }: Stage): Promise<Omit<Report, 'inMemory' | 'scaling'>> {
  const options = { rounds, payments, connections }
  const sideBySide = await measureSideBySide([bare, bullmq, service], service, options, tell)
  const throughput = { service: throughputOf(sideBySide, service), bare: throughputOf(sideBySide, bare) }
  return {
    at: new Date().toISOString(),
    dir: values.dir,
    rounds,
    connections,
    sideBySide,
    openLoop: isWhole ? await measureOpenLoop({ service, bare }, throughput) : null,
    slowNetwork: isWhole ? [await measureWithSlowNetwork(service, { perSecond: 150, seconds: 20 })] : [],
    operations: isWhole ? await measureOperations(service, { payments: 3_000, connections }) : null,
    growth: isWhole ? await measureGrowth(service, values.growth.split(',').map(Number), tell) : [],
    ledger: await checkLedger(service)
  }
}
