/**
 * A service on a Redis Cluster under load, whose masters are killed; then the audit of all records (clients, service, network).
 *
 * `cutMs`: before it is killed a master loses its replica for so long and goes on alone. What it confirms meanwhile is
 * lost with it, which asynchronous replication may do at any time; here it surely happens.
 */
import { connect, disconnect } from '../../../redis/connection/connections.js'
import { keys, partitionOf } from '../../../redis/keys.js'
import { MerchantStore } from '../../../redis/merchants/merchants.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { temporaryFolder } from '../../../scripts/command-line/temporary-folder.js'
import { urlOf } from '../../../scripts/start/environment.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { ownService } from '../../../scripts/start/own-service.js'
import type { RedisBinary } from '../../../scripts/start/redis-binary.js'
import type { RunningService } from '../../../scripts/start/service.js'
import { ChaosClient, type Target } from '../../chaos/client.js'
import { type AuditedRun, auditRun } from '../../chaos/final-state.js'
import { openLoop } from '../../chaos/open-loop.js'
import { type ChaosReceiver, startReceiver } from '../../chaos/receiver.js'
import { createRandom } from '../../simulation/random.js'
import { until } from '../../support/conditions.js'
import { RedisCluster } from '../../support/redis-cluster.js'
import type { RedisNode } from '../../support/redis-node.js'

export interface DrillOptions {
  readonly root: string
  readonly binary: RedisBinary
  readonly seconds: number
  /** New payments per second, of all merchants together. */
  readonly rate: number
  readonly waitReplicas: number
  /** Masters that are killed, one after the other, evenly over the time. */
  readonly kills: number
  readonly cutMs: number
  readonly seed: number
  readonly output: (text: string) => void
  readonly progress: (line: string) => void
}

export interface DrillVerdict extends AuditedRun {
  /** From the death of a master to the first command that its replica takes (ms). */
  readonly failoversMs: readonly number[]
}

const MASTERS = 3
const PARTITIONS = 16
/** Masters count as dead when the drill kills one, not when a busy machine keeps them from answering. */
const NODE_TIMEOUT_MS = { usual: 60_000, whenKilled: 1_000 }
const SETTINGS = {
  LOG_LEVEL: 'warn',
  PARTITIONS: String(PARTITIONS),
  NETWORK_AUTHORISE_TIMEOUT_MS: '2000',
  NETWORK_TIMEOUT_MS: '2000',
  NETWORK_CONNECT_TIMEOUT_MS: '500',
  NOT_FOUND_HORIZON_MS: '6000',
  RECONCILE_DELAYS_MS: '300,700,1500,3000',
  HEARTBEAT_MS: '300',
  TAKEOVER_AFTER_MS: '1500',
  RESULT_WAIT_MS: '4000'
}

/** Runs to the verdict; everything that was started is stopped again. */
export async function runDrill(options: DrillOptions): Promise<DrillVerdict> {
  const place = await temporaryFolder('payments-drill-')
  const dataDir = place.path
  const replicas = 1
  const cluster = await RedisCluster.start({
    binary: options.binary,
    masters: MASTERS,
    replicas,
    nodeTimeoutMs: NODE_TIMEOUT_MS.usual
  })
  const service = await ownService({
    root: options.root,
    dataDir,
    scale: ['payments=2'],
    env: { ...SETTINGS, REDIS_URL: cluster.url, WAIT_REPLICAS: String(options.waitReplicas) },
    write: options.output
  })
  let receiver: ChaosReceiver | undefined
  try {
    const running = await service.start()
    const random = createRandom(options.seed)
    receiver = await startReceiver(await readLoopbackTls(dataDir), options.seed)
    receiver.behave()
    return await runOn(running, cluster, receiver, () => random.next(), options)
  } finally {
    await receiver?.stop()
    await service.stop()
    await cluster.stop()
    await place.remove()
  }
}

async function runOn(
  { ports, urls }: RunningService,
  cluster: RedisCluster,
  receiver: ChaosReceiver,
  dice: () => number,
  options: DrillOptions
): Promise<DrillVerdict> {
  const { network_url: networkUrl } = urls
  if (networkUrl === null) throw new Error('The service has no network.')
  const shops = await openShops(cluster)
  const apiUrls = [urlOf(ports, 'api.1') ?? '']
  const tokensUrls = [urlOf(ports, 'tokens.1') ?? '']
  const clients = shops.map(shop => new ChaosClient({ ...shop.keys, apiUrls, tokensUrls, networkUrl }, dice))
  for (const client of clients) receiver.trust(await client.registerWebhook(receiver.url))
  options.progress(`the service runs on ${MASTERS} masters with a replica each, one merchant on every master`)
  const failoversMs: number[] = []
  const sending = openLoop(options, index => clients[index % clients.length]?.begin(`order-${index}`))
  for (let kill = 0; kill < options.kills; kill++) {
    await delay((options.seconds * 1_000) / (options.kills + 1))
    const shop = shops[kill % shops.length]
    if (shop !== undefined) failoversMs.push(await killMaster(cluster, keys.commands(shop.partition), options.cutMs))
    options.progress(`a master was killed; its replica took over after ${failoversMs.at(-1)} ms`)
  }
  await sending
  return { ...(await auditRun(clients, receiver, networkUrl, [])), failoversMs }
}

interface Shop {
  readonly partition: number
  readonly keys: Pick<Target, 'apiKey' | 'publishableKey'>
}

/** One merchant on every master. */
async function openShops(cluster: RedisCluster): Promise<Shop[]> {
  const redis = await connect(cluster.url, 'commands', createLogger('drill', 'silent'))
  const merchants = new MerchantStore(redis, 'test')
  const permissions = ['payments:read', 'payments:write', 'webhooks:write'] as const
  const shops = new Map<number, Shop>()
  while (shops.size < MASTERS) {
    const { merchantId } = await merchants.createMerchant('Merchant of the drill')
    const partition = partitionOf(merchantId, PARTITIONS)
    const master = await cluster.masterOf(keys.commands(partition))
    if (shops.has(master.port)) continue
    const secret = await merchants.createKey({ merchantId, permissions })
    const publishable = await merchants.createKey({ merchantId, permissions: ['tokens:write'], isPublishable: true })
    shops.set(master.port, { partition, keys: { apiKey: secret.fullKey, publishableKey: publishable.fullKey } })
  }
  await disconnect(redis)
  return [...shops.values()]
}

async function setNodeTimeout(nodes: readonly RedisNode[], ms: number): Promise<void> {
  await Promise.all(nodes.map(node => node.ask('CONFIG', 'SET', 'cluster-node-timeout', String(ms))))
}

/** Kills the master of a key with -9. Resolves when its replica has taken over, with the time that it took (ms). */
async function killMaster(cluster: RedisCluster, key: string, cutMs: number): Promise<number> {
  const master = await cluster.masterOf(key)
  const replica = await cluster.replicaOf(master)
  if (cutMs > 0) {
    // The replica is suspended, its link is cut, and what is written from here on stays with the master.
    replica.signal('SIGSTOP')
    await master.ask('CLIENT', 'KILL', 'TYPE', 'replica')
    await delay(cutMs)
  }
  await master.kill()
  const killedMs = performance.now()
  if (cutMs > 0) replica.signal('SIGCONT')
  const living = cluster.nodes.filter(node => node !== master)
  await setNodeTimeout(living, NODE_TIMEOUT_MS.whenKilled)
  await until('its replica takes over', async () => (await replica.figure('replication', 'role')) === 'master')
  const tookMs = Math.round(performance.now() - killedMs)
  await setNodeTimeout(living, NODE_TIMEOUT_MS.usual)
  // It comes back as a replica of the one that took over, so that the next kill finds one.
  await master.restart()
  return tookMs
}
