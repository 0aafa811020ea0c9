/**
 * The replicas that writes wait for (`WAIT_REPLICAS`): whether enough of them are in sync, and whether they keep what
 * they confirm. Too few at every master is a problem, because every write gets 503. Weak settings are a warning: the
 * master has each write on its disk, so two servers must fail before anything is lost.
 *
 * Sentinels and single servers name their replicas in `INFO replication`; this file connects to them with the login of
 * `REDIS_URL`. The client of a Cluster has connections to its replicas already.
 */
import { Cluster } from 'ioredis'
import type { Config } from '../../runtime/config.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Logger } from '../../runtime/log.js'
import { addressOfServer, type HostPort } from '../../runtime/redis-address.js'
import { nameOfServer } from '../connection/cluster-masters.js'
import { connect, disconnect, type Redis } from '../connection/connections.js'
import { reasonOf } from '../connection/redis-errors.js'
import { askMasters, rejectAsUnreachable } from '../connection/unreachable.js'
import { weakSettings } from './durability.js'

/**
 * A replica acknowledges once a second (s). One that is silent for longer than this confirms no write within the second
 * that a WAIT lasts; shorter pauses are left to the retries of the write.
 */
const LAG_MAX_S = 3
/** How long a connection to a replica may take (ms): the check that needs it has 6 s. */
const CONNECT_DEADLINE_MS = 3_000

interface Replica extends HostPort {
  readonly isInSync: boolean
}

/** Makes the replicas conditions of /readyz. `config.waitReplicas` is at least 1. */
export function watchReplicas(
  redis: Redis,
  {
    config,
    log,
    onStop,
    onReadyCheck,
    onWarning
  }: Pick<ProcessContext, 'log' | 'onStop' | 'onReadyCheck' | 'onWarning'> & {
    readonly config: Pick<Config, 'redisUrl' | 'waitReplicas' | 'acceptEverysec'>
  }
): void {
  const count = config.waitReplicas
  const servers = new ReplicaConnections(config.redisUrl, log)
  onStop('replicas', () => servers.close())
  onReadyCheck('replicas', () => shortage(redis, count, 'of all'))
  // The partitions of the other masters are served, so the process stays ready.
  onWarning('replicas', () => shortage(redis, count, 'of some'))
  onWarning('replica durability', async () => {
    const replicas = await servers.of(redis).catch(rejectAsUnreachable(redis))
    const weak = await weakReplicas(replicas, config.acceptEverysec === 'yes')
    if (weak.length === 0) return undefined
    return `A replica that WAIT_REPLICAS counts may lose what it confirms: ${weak.join('; ')}.`
  })
}

/** The sentence about replicas that may take over although no write waits for them, or undefined. */
export async function unawaitedReplicas(redis: Redis): Promise<string | undefined> {
  if ((await askMasters(redis, replicasOf)).flat().length === 0) return undefined
  return `The Redis of REDIS_URL has replicas, and WAIT_REPLICAS is 0: a failover may lose payments and refunds that were answered. Set WAIT_REPLICAS (docs/REDIS.md).`
}

/** The sentence about masters that have too few replicas, if these are all of them, or if there are others. */
async function shortage(redis: Redis, count: number, which: 'of all' | 'of some'): Promise<string | undefined> {
  const asked = await askMasters(redis, async master => {
    const inSync = (await replicasOf(master)).filter(replica => replica.isInSync)
    const name = redis instanceof Cluster ? nameOfServer(master) : 'the master'
    return inSync.length < count ? [`${name} (${inSync.length})`] : []
  })
  const short = asked.flat()
  if (short.length === 0 || (short.length === asked.length) !== (which === 'of all')) return undefined
  const writes = which === 'of all' ? 'every write is' : 'writes to its partitions are'
  return `Fewer than ${count} replicas (WAIT_REPLICAS) are in sync with ${short.join(', ')}: ${writes} answered 503. Start the replicas, or mend their link to the master.`
}

const LINE = /^slave\d+:ip=([^,\r]+),port=(\d+)(?:,state=(\w+),offset=\d+,lag=(-?\d+))?/gm

/** The replicas of one server, as it names them. */
export async function replicasOf(master: Redis): Promise<Replica[]> {
  const info = await master.info('replication')
  return [...info.matchAll(LINE)].map(([, host = '', port, state, lagS]) => ({
    host,
    port: Number(port),
    isInSync: state === 'online' && Number(lagS) <= LAG_MAX_S
  }))
}

/** A sentence for each replica with weak settings, and for each that can't be asked. */
async function weakReplicas(replicas: ReadonlyMap<string, Promise<Redis>>, acceptEverysec: boolean): Promise<string[]> {
  const found = [...replicas].map(async ([name, connecting]) => {
    try {
      const weak = await weakSettings(await connecting, acceptEverysec)
      return weak.map(setting => `${name}: ${setting}`)
    } catch (error) {
      return [`${name} can't be asked (${reasonOf(error)})`]
    }
  })
  return (await Promise.all(found)).flat()
}

/** A connection to each replica, kept between two checks. */
class ReplicaConnections {
  readonly #url: string
  readonly #log: Logger
  readonly #open = new Map<string, Promise<Redis>>()

  constructor(url: string, log: Logger) {
    this.#url = url
    // The warning reports a replica that is down; the connection need not log it.
    this.#log = log.child({}, { level: 'silent' })
  }

  /** The replicas that are in sync, by `host:port`. Of one that can't be reached the promise rejects. */
  async of(redis: Redis): Promise<ReadonlyMap<string, Promise<Redis>>> {
    if (redis instanceof Cluster) {
      return new Map(redis.nodes('slave').map(node => [nameOfServer(node), Promise.resolve(node)]))
    }
    const inSync = (await replicasOf(redis)).filter(replica => replica.isInSync)
    const named = new Map(inSync.map(replica => [`${replica.host}:${replica.port}`, replica]))
    for (const name of this.#open.keys()) if (!named.has(name)) this.#drop(name)
    for (const [name, replica] of named) {
      if (this.#open.has(name)) continue
      const connecting = connect(
        addressOfServer(this.#url, replica),
        'commands',
        this.#log,
        'REDIS_URL',
        CONNECT_DEADLINE_MS
      )
      connecting.catch(() => this.#open.delete(name))
      this.#open.set(name, connecting)
    }
    return new Map(this.#open)
  }

  close(): void {
    for (const name of this.#open.keys()) this.#drop(name)
  }

  #drop(name: string): void {
    const connecting = this.#open.get(name)
    this.#open.delete(name)
    connecting?.then(disconnect).catch(() => undefined)
  }
}
