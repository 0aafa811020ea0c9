/** One chaos run: a service of its own, clients, trouble, peace, and the audit. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from '../../scripts/command-line/temporary-folder.js'
import { readDemo } from '../../scripts/start/demo.js'
import { urlOf } from '../../scripts/start/environment.js'
import { readLoopbackTls } from '../../scripts/start/loopback-tls.js'
import { ownService } from '../../scripts/start/own-service.js'
import { parseProcfile } from '../../scripts/start/procfile.js'
import type { RunningService, Service } from '../../scripts/start/service.js'
import { createRandom } from '../simulation/random.js'
import type { CrashPoint } from '../support/crash-steps.js'
import { settingsOf } from './chaos-settings.js'
import { ChaosClient, type Target } from './client.js'
import { type Archived, advance, earlierPayments, readArchived, untilMoved } from './earlier-payments.js'
import { type AuditedRun, auditRun } from './final-state.js'
import { type ObserverThread, startObserverThread } from './observer-thread.js'
import { openLoop } from './open-loop.js'
import { type ProxyThread, startProxyThread } from './proxy-thread.js'
import { type ChaosReceiver, startReceiver } from './receiver.js'
import { lateRecoveries, longestBackMs, type Recovery } from './recoveries.js'
import { countStrikes, makeTrouble, type Pace, putFaults, type Trouble, type Victims } from './trouble.js'

export interface ChaosOptions extends Pace {
  readonly root: string
  readonly seconds: number
  /** New payments per second. */
  readonly rate: number
  readonly seed: number
  /** `brief`: shorter times at the network. For tests. */
  readonly pace: 'full' | 'brief'
  /** Points at which processes kill themselves, once each. */
  readonly crashPoints: readonly CrashPoint[]
  /** With an archive: payments of before move into it meanwhile, and some are changed then. */
  readonly isArchiving?: boolean
  /** Gets all that the processes print. */
  readonly output: (text: string) => void
  readonly progress: (line: string) => void
}

export interface Verdict extends AuditedRun {
  readonly seconds: number
  /** Webhooks that arrived, repeated ones included. */
  readonly deliveries: number
  readonly struck: ReturnType<typeof countStrikes>
  /** Lives of a process with a wrong clock. */
  readonly shiftedClocks: number
  readonly recoveries: readonly Recovery[]
  /** Until every process answered (ms); null: there was none. */
  readonly longestBackMs: Readonly<Record<Recovery['from'], number | null>>
  /** Null: the run had no archive. */
  readonly archived: Archived | null
  /** The points that were reached. */
  readonly crashes: readonly string[]
}

const PEACE_WITHIN_MS = 60_000
const PARTITIONS = 16
/**
 * A command that left its stream by hand is missed after 15 min at most. What is sent for it then may be the fifth try of its
 * operation, 18 min after the one before (machines/payment/tries.ts).
 */
const PEACE_ADVANCES = ['15m', '20m']
/** Longer than the not-found horizon, and than anything that the network does late. */
const IDLE_WITHIN_MS = 30_000
/** Between two lines of progress while payments are sent. */
const PROGRESS_EVERY_S = 15
const SCALE = ['api=2', 'tokens=2', 'payments=2', 'timers=2']
/** Of the time with trouble: for so long, payments are sent before it that move to the archive. */
const EARLIER_PART = 1 / 3
/** Of those, payments that are changed when they have moved. The others are changed at the pace of the run. */
const CHANGED_WHEN_MOVED = 3
/** On a machine that is too slow to move any of them during the trouble, they move and change after it. */
const MOVED_WITHIN_MS = { inTrouble: 15_000, inPeace: 60_000 }

/** Runs to the verdict; all that was started is stopped again. Rejects when the service does not start. */
export async function runChaos(options: ChaosOptions): Promise<Verdict> {
  const place = await temporaryFolder('payments-chaos-')
  const dataDir = place.path
  let shiftedClocks = 0
  const proxies = new Map<string, ProxyThread>()
  const behindProxy = async (name: string, url: string): Promise<string> => {
    const proxy = await startProxyThread(url)
    proxies.set(name, proxy)
    return proxy.url
  }
  const service = await ownService({
    root: options.root,
    dataDir,
    procfile: await procfileWithTrouble(options, join(dataDir, CRASH_MARKS)),
    scale: options.isArchiving ? [...SCALE, 'archive=1'] : SCALE,
    env: {
      ...settingsOf(options.pace),
      PARTITIONS: String(PARTITIONS),
      // The last one moves when half of the run is over.
      ARCHIVE_PER_SECOND: String(Math.ceil(2 * EARLIER_PART * options.rate))
    },
    redisSeenAt: async ({ redisUrl, secretsRedisUrl }) => ({
      redisUrl: await behindProxy('redis', redisUrl),
      secretsRedisUrl: await behindProxy('secrets-redis', secretsRedisUrl)
    }),
    write: text => {
      shiftedClocks += text.includes(SHIFTED) ? 1 : 0
      options.output(text)
    }
  })
  // What sleeps (SIGSTOP) does not notice that its supervisor is gone, and would sleep for ever.
  const killAll = (): void => service.killAll()
  process.once('exit', killAll)
  try {
    return { ...(await runWith({ service, dataDir, proxies }, options)), shiftedClocks }
  } finally {
    await service.stop()
    for (const proxy of proxies.values()) await proxy.stop()
    process.off('exit', killAll)
    await place.remove()
  }
}

/** Processes that live by a clock which they set right by that of Redis (redis/connection/redis-clock.ts). */
const SHIFTED_PROCESSES = ['api', 'payments', 'timers', 'archive']
/** What shifted-clock.ts says. */
const SHIFTED = 'the clock of this process is'

/** Folder of the data directory with a file for each point that killed a process. */
const CRASH_MARKS = 'crashes'

async function procfileWithTrouble({ root, crashPoints }: ChaosOptions, marks: string): Promise<string> {
  const before = (file: string): string => `--import '${pathToFileURL(join(root, 'dist/test/chaos', file))}`
  const shift = `${before('shifted-clock.js')}' `
  const crash = `${before('crash-once.js')}?points=${crashPoints.join()}&marks=${encodeURIComponent(marks)}' `
  const lines = parseProcfile(await readFile(join(root, 'Procfile'), 'utf8')).map(({ name, command }) => {
    const loaded = (SHIFTED_PROCESSES.includes(name) ? shift : '') + (crashPoints.length > 0 ? crash : '')
    return `${name}: ${command.replace(/\bnode /, `node ${loaded}`)}`
  })
  return `${lines.join('\n')}\n`
}

type Observed = Omit<Verdict, 'shiftedClocks'>

interface Stage {
  readonly service: Service
  readonly dataDir: string
  readonly proxies: Victims['proxies']
}

/** All that is not the service. */
interface Outside extends Stage {
  readonly target: Target
  readonly receiver: ChaosReceiver
  readonly observer: ObserverThread
}

async function runWith(stage: Stage, options: ChaosOptions): Promise<Observed> {
  const { dataDir } = stage
  const running = await stage.service.start()
  const target = await targetOf(dataDir, running.ports, running.urls.network_url)
  const random = createRandom(options.seed)
  const receiver = await startReceiver(await readLoopbackTls(dataDir), options.seed)
  const observer = await startObserverThread({ ...target, dataDir })
  try {
    return await runOn({ ...stage, target, receiver, observer }, running, () => random.next(), options)
  } finally {
    await observer.stop()
    await receiver.stop()
  }
}

async function runOn(
  { service, dataDir, proxies, target, receiver, observer }: Outside,
  { redis }: RunningService,
  dice: () => number,
  options: ChaosOptions
): Promise<Observed> {
  const { networkUrl } = target
  const client = new ChaosClient(target, dice)
  receiver.trust(await client.registerWebhook(receiver.url))
  const { seconds, rate, progress, isArchiving = false } = options
  const earlier = isArchiving
    ? await earlierPayments(client, receiver, { rate, seconds: Math.ceil(seconds * EARLIER_PART), dataDir })
    : []
  progress('the service runs; trouble begins')
  const trouble = troubleOf(service, proxies, { redis, networkUrl, backMs: observer.backMs, options, dice })
  const meanwhile = earlier.slice(0, -CHANGED_WHEN_MOVED)
  const whenMoved = earlier.slice(-CHANGED_WHEN_MOVED)
  let changed = 0
  const begun = await openLoop(options, index => {
    client.begin(`order-${index}`)
    const id = index * EARLIER_PART >= changed ? meanwhile[changed++] : undefined
    if (id !== undefined) client.change(id, `change-${index}`)
    const isTold = index > 0 && index % Math.max(1, Math.round(rate * PROGRESS_EVERY_S)) === 0
    if (isTold) progress(`${index} payments begun, ${client.open} open`)
  })
  const { archiveUrl } = redis
  const changeMoved = async (limitMs: number): Promise<void> => {
    if (archiveUrl === undefined) return
    for (const id of await untilMoved(archiveUrl, whenMoved, limitMs)) client.change(id, `change-${id}`)
  }
  const isChanged = await changeMoved(MOVED_WITHIN_MS.inTrouble).then(
    () => true,
    () => false
  )
  await trouble.end()
  // It runs again, and takes this however busy the machine is: with its faults, nothing would come to its end.
  await putFaults(networkUrl, {}, PEACE_WITHIN_MS)
  await service.untilReady()
  for (const span of options.tamperEveryMs === null ? [] : PEACE_ADVANCES) {
    // What the network does late is over by then: a call must not arrive after its horizon.
    await client.idle(IDLE_WITHIN_MS)
    await advance(dataDir, span)
  }
  if (!isChanged) await changeMoved(MOVED_WITHIN_MS.inPeace)
  progress(`${begun} payments were begun, ${client.open} are open; peace`)
  const audited = await auditRun([client], receiver, networkUrl)
  const archived = archiveUrl === undefined ? null : await readArchived(archiveUrl)
  const { recoveries, strikes } = trouble
  audited.findings.late.push(...lateRecoveries(recoveries))
  return {
    ...audited,
    recoveries,
    longestBackMs: {
      frozen: longestBackMs(recoveries, 'frozen'),
      silenced: longestBackMs(recoveries, 'silenced')
    },
    archived,
    seconds,
    deliveries: receiver.deliveries(),
    struck: countStrikes(strikes),
    crashes: await readdir(join(dataDir, CRASH_MARKS)).catch(() => [])
  }
}

/** Begins the trouble. */
function troubleOf(
  service: Service,
  proxies: Victims['proxies'],
  run: {
    readonly redis: RunningService['redis']
    readonly networkUrl: string
    readonly backMs: Victims['backMs']
    readonly options: ChaosOptions
    readonly dice: () => number
  }
): Trouble {
  const { networkUrl, redis, options, dice } = run
  const processes = (): Service['processes'] => service.processes
  const victims = {
    redisUrl: redis.redisUrl,
    processes,
    networkUrl,
    partitions: PARTITIONS,
    backMs: run.backMs,
    proxies
  }
  return makeTrouble(victims, options, dice)
}

async function targetOf(dataDir: string, ports: RunningService['ports'], networkUrl: string | null): Promise<Target> {
  const demo = await readDemo(dataDir)
  if (demo === undefined || networkUrl === null) throw new Error('The service has no demo merchant or network.')
  const all = (name: string): string[] => [1, 2].flatMap(instance => urlOf(ports, `${name}.${instance}`) ?? [])
  return {
    apiUrls: all('api'),
    tokensUrls: all('tokens'),
    networkUrl,
    apiKey: demo.api_key,
    publishableKey: demo.publishable_key
  }
}
