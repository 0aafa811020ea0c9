/**
 * `npm run bench`: the service beside an empty job queue and a bare pipeline, in one run on one machine.
 *
 *   npm run bench -- [--rounds 5] [--payments 6000] [--connections 128] [--growth 1000,100000] [--dir DIR]
 *                   [--quick] [--json] [--write]
 *
 * Every system gets the same Redis settings (`appendfsync always`), the same load generator and the same body, is warmed up,
 * and is measured in turn, round by round. `--quick` measures the ratios alone; `--write` writes docs/BENCHMARKS.md.
 * `--dir` is where the data lies, the Redis files included: in memory (/dev/shm) there is no disk to wait for, and what is
 * left is the software's own time. `--cluster` compares nothing but one Redis with a Cluster, and with replicas that are waited for.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compareWithCluster } from './bench/cluster.js'
import { measureGrowth } from './bench/growth.js'
import { checkLedger } from './bench/ledger.js'
import { measureOperations } from './bench/operations.js'
import { kneeOf, measureCurve, measureOwnTimes, measureWithSlowNetwork } from './bench/overhead.js'
import { type Report, ratioTo, renderReport } from './bench/report.js'
import { measureScaling } from './bench/scaling.js'
import { measureSideBySide } from './bench/side-by-side.js'
import { type ServiceSystem, type System, startRival, startService } from './bench/systems.js'
import { startRedis } from './supervisor/embedded-redis.js'
import { freePort } from './supervisor/ports.js'
import { obtainRedis } from './supervisor/redis-binary.js'

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

const dir = await mkdtemp(join(values.dir, 'payments-bench-'))
const systems: System[] = []
const binary = await obtainRedis(resolve('.vendor'), tell)
const redis = await startRedis({
  kind: 'redis',
  binary,
  port: await freePort(),
  dir: join(dir, 'rivals'),
  databases: 1,
  onOutput: () => undefined
})
try {
  const bare = await startRival('bare', redis.url)
  systems.push(bare, await startRival('bullmq', redis.url))
  const service = await startService(join(dir, 'service'), { env: {}, scale: [] })
  systems.push(service)
  const measured = await measure(service, bare)
  // Alone on the machine: the systems of the first part are stopped before.
  for (const system of systems.splice(0)) await system.stop()
  const scaling = values.quick ? [] : await measureScaling(dir, { total: payments, connections }, tell)
  const report: Report = { ...measured, scaling }
  if (values.write) await writeFile('docs/BENCHMARKS.md', renderReport(report))
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : renderReport(report))
  tell(`ratio to bullmq ${ratioTo(report, 'bullmq').toFixed(2)}, to bare ${ratioTo(report, 'bare').toFixed(2)}`)
} finally {
  for (const system of systems) await system.stop()
  await redis.process.stop(2_000)
  await rm(dir, { recursive: true, force: true })
}

async function measure(service: ServiceSystem, bare: System): Promise<Omit<Report, 'scaling'>> {
  const sideBySide = await measureSideBySide(systems, service, { rounds, payments, connections }, tell)
  const halfOf = ({ name }: System): number =>
    (sideBySide.find(figures => figures.name === name)?.perSecond.median ?? 0) / 2
  const isWhole = !values.quick
  // The bare pipeline beside it tells what the machine takes: its disk, and its cores that all of this shares.
  const curve = isWhole ? await measureCurve(service, 2 * halfOf(service)) : []
  const ownTime = isWhole
    ? await measureOwnTimes([
        { system: service, perSecond: kneeOf(curve) / 2 },
        { system: bare, perSecond: kneeOf(curve) / 2 },
        { system: service, perSecond: halfOf(service) },
        { system: bare, perSecond: halfOf(service) },
        { system: bare, perSecond: halfOf(bare) }
      ])
    : []
  const slowNetwork = isWhole ? [await measureWithSlowNetwork(service, { perSecond: 150, seconds: 20 })] : []
  const operations = isWhole ? await measureOperations(service, { payments: 3_000, connections }) : null
  const growth = isWhole ? await measureGrowth(service, values.growth.split(',').map(Number), tell) : []
  const ledger = await checkLedger(service)
  return {
    at: new Date().toISOString(),
    dir: values.dir,
    rounds,
    connections,
    sideBySide,
    curve,
    ownTime,
    slowNetwork,
    operations,
    growth,
    ledger
  }
}
