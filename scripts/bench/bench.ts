/**
 * `npm run bench`: the service beside an empty job queue and a bare pipeline, in one run on one machine.
 *
 * Every system gets the same Redis settings (`appendfsync always`), load generator and body, is warmed up, and is measured
 * in turn, round by round.
 */
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Option } from 'commander'
import { stopOnSignals } from '../command-line/ending.js'
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { folder, wholeNumber } from '../command-line/values.js'
import { startRedis } from '../start/embedded-redis.js'
import { freePort } from '../start/ports.js'
import { obtainRedis } from '../start/redis-binary.js'
import { checkLedger } from './ledger.js'
import { measureOpenLoop } from './overhead.js'
import { type Report, ratioTo, renderReport } from './report.js'
import { measureSideBySide, throughputOf } from './side-by-side.js'
import { type ServiceSystem, type System, startRival, startService } from './systems.js'

interface BenchOptions {
  readonly rounds: number
  readonly payments: number
  readonly connections: number
  readonly dir: string
  readonly quick?: boolean
  readonly write?: boolean
}

const command = toolCommand({
  name: 'bench',
  does: 'Measures the service beside an empty job queue and a bare pipeline, all with a durable Redis of their own. Needs no `npm start`, and does not touch the data of one. Figures go to standard output, progress to standard error.',
  takes: 'about 10 minutes; a minute or two with --quick. Run nothing else on the machine.',
  examples: [
    ['--quick --rounds 3', 'the ratios alone'],
    ['--write', 'everything, into docs/BENCHMARKS.md']
  ]
})
  .option('--rounds <count>', 'how often every system is measured in turn', wholeNumber(1, 1_000), 5)
  .option('--payments <count>', 'payments of each system in a round', wholeNumber(1, 1_000_000), 6_000)
  .option('--connections <count>', 'connections that send at the same time', wholeNumber(1, 1_000), 128)
  .addOption(
    new Option('--dir <folder>', 'folder of the data during the run').argParser(folder).default(tmpdir(), tmpdir())
  )
  .option('--quick', 'measure the throughput alone')
  .option('--write', 'write docs/BENCHMARKS.md, too')
const { options: values } = readCommandLine<BenchOptions>(command)
stopOnSignals()

const progress = (line: string): void => void process.stderr.write(`${line}\n`)
const { rounds, connections, payments } = values

const report = await onStage(values.dir, measure)
if (values.write) await writeFile('docs/BENCHMARKS.md', renderReport(report))
process.stdout.write(renderReport(report))
progress(`ratio to bullmq ${ratioTo(report, 'bullmq').toFixed(2)}, to bare ${ratioTo(report, 'bare').toFixed(2)}`)

async function measure({ service, bare, bullmq }: Stage): Promise<Report> {
  const sideBySide = await measureSideBySide(
    [bare, bullmq, service],
    service,
    { rounds, payments, connections },
    progress
  )
  return {
    at: new Date().toISOString(),
    dir: values.dir,
    rounds,
    connections,
    sideBySide,
    openLoop: values.quick ? null : await measureOpenLoop({ service, bare }, throughputOf(sideBySide, service)),
    ledger: await checkLedger(service)
  }
}

interface Stage {
  readonly service: ServiceSystem
  readonly bare: System
  readonly bullmq: System
}

/** Runs `work` with the service and its rivals, whose data is below `parentDir`. Stops them and removes the data in any case. */
async function onStage<T>(parentDir: string, work: (stage: Stage) => Promise<T>): Promise<T> {
  const binary = await obtainRedis(resolve('.vendor'), progress)
  const place = await temporaryFolder('payments-bench-', parentDir)
  const ends: (() => Promise<unknown>)[] = [place.remove]
  const started = <S extends { readonly stop: () => Promise<void> }>(system: S): S => {
    ends.push(system.stop)
    return system
  }
  try {
    const redis = await startRedis({
      kind: 'redis',
      binary,
      port: await freePort(),
      dir: join(place.path, 'rivals'),
      databases: 1,
      onOutput: () => undefined
    })
    ends.push(() => redis.process.stop(2_000))
    const bare = started(await startRival('bare', redis.url))
    const bullmq = started(await startRival('bullmq', redis.url))
    const service = started(await startService(join(place.path, 'service')))
    return await work({ service, bare, bullmq })
  } finally {
    for (const end of ends.reverse()) await end()
  }
}
