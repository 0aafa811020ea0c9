/** A Redis Cluster on this machine: masters that share the slots, each with replicas. */
import { join } from 'node:path'
import { type TemporaryFolder, temporaryFolder } from '../../scripts/command-line/temporary-folder.js'
import type { RedisBinary } from '../../scripts/start/redis-binary.js'
import { until } from './conditions.js'
import { RedisNode } from './redis-node.js'

const SLOTS = 16_384

export interface ClusterOptions {
  readonly binary: RedisBinary
  readonly masters: number
  /** Of each master. */
  readonly replicas: number
  /** Silence after which a master counts as dead (ms). */
  readonly nodeTimeoutMs: number
  readonly dir?: string
  /** Settings with the files of TLS, which the nodes then speak to each other, too; none without it. */
  readonly tls?: readonly string[]
}

export class RedisCluster {
  readonly nodes: readonly RedisNode[]
  readonly #place: TemporaryFolder
  readonly #isTls: boolean

  private constructor(nodes: readonly RedisNode[], place: TemporaryFolder, isTls: boolean) {
    this.nodes = nodes
    this.#place = place
    this.#isTls = isTls
  }

  /** Starts and joins the nodes; the masters come first. Resolves when every replica follows its master. */
  static async start(options: ClusterOptions): Promise<RedisCluster> {
    const { binary, masters, replicas, nodeTimeoutMs, tls = [] } = options
    const place = await temporaryFolder('payments-cluster-', options.dir)
    const settings = [
      ...['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeoutMs)],
      // The slots of a dead master must not block the others.
      ...['--cluster-require-full-coverage', 'no', '--cluster-allow-replica-migration', 'no'],
      ...(tls.length === 0 ? [] : [...tls, '--tls-cluster', 'yes', '--tls-replication', 'yes'])
    ]
    const starts = Array.from({ length: masters * (1 + replicas) }, (_, i) =>
      RedisNode.start(binary, join(place.path, String(i)), settings)
    )
    const cluster = new RedisCluster(await Promise.all(starts), place, tls.length > 0)
    try {
      await cluster.#form(masters)
    } catch (error) {
      await cluster.stop()
      throw error
    }
    return cluster
  }

  get url(): string {
    const addresses = this.nodes.map(node => `127.0.0.1:${this.#portOf(node)}`)
    return `${this.#isTls ? 'rediss' : 'redis'}-cluster://${addresses.join(',')}`
  }

  /** The node that is the master of a key's slot, as a living node sees it. */
  async masterOf(key: string): Promise<RedisNode> {
    for (const node of this.nodes) {
      const rows = await slotsOf(node).catch(() => [])
      const slot = Number(await node.ask('CLUSTER', 'KEYSLOT', key).catch(() => -1))
      const port = rows.find(row => row.from <= slot && slot <= row.to)?.port
      const found = this.nodes.find(candidate => candidate.port === port)
      if (found !== undefined) return found
    }
    throw new Error(`No node of the Cluster knows a master for ${key}.`)
  }

  /** A replica of a master. */
  async replicaOf(master: RedisNode): Promise<RedisNode> {
    for (const node of this.nodes) {
      if (node === master || (await node.figure('replication', 'role')) !== 'slave') continue
      if (Number(await node.figure('replication', 'master_port')) === master.port) return node
    }
    throw new Error(`The master on port ${master.port} has no replica.`)
  }

  /** Gives the slot of a key, with all its keys, to another master. */
  async moveSlotOf(key: string): Promise<void> {
    const from = await this.masterOf(key)
    const to = this.nodes.find(node => node !== from)
    if (to === undefined) throw new Error('A Cluster of one node has no other node to give a slot to.')
    const slot = String(await from.ask('CLUSTER', 'KEYSLOT', key))
    const [fromId, toId] = [String(await from.ask('CLUSTER', 'MYID')), String(await to.ask('CLUSTER', 'MYID'))]
    await to.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
    await from.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
    const names = (await from.ask('CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[]
    if (names.length > 0) await from.ask('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...names)
    for (const node of [to, from]) await node.ask('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(node => node.stop()))
    await this.#place.remove()
  }

  #portOf({ port, tlsPort }: RedisNode): number {
    return this.#isTls ? tlsPort : port
  }

  async #form(masters: number): Promise<void> {
    const { nodes } = this
    const [first] = nodes
    for (const [i, node] of nodes.entries()) {
      await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))
      if (i < masters) {
        const [from, to] = [i, i + 1].map(n => Math.floor((n * SLOTS) / masters))
        await node.ask('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1))
      }
      if (first !== undefined && node !== first) {
        await first.ask('CLUSTER', 'MEET', '127.0.0.1', String(this.#portOf(node)), String(node.busPort))
      }
    }
    await until('all nodes know each other', async () => {
      const known = await Promise.all(nodes.map(node => infoOf(node, 'cluster_known_nodes')))
      return known.every(count => Number(count) === nodes.length)
    })
    for (const [i, node] of nodes.slice(masters).entries()) {
      const master = nodes[i % masters]
      const id = String(await master?.ask('CLUSTER', 'MYID'))
      await until('a replica takes its master', () => node.ask('CLUSTER', 'REPLICATE', id).then(Boolean, () => false))
    }
    await until('all nodes agree that the Cluster works', async () => {
      const states = await Promise.all(nodes.map(node => infoOf(node, 'cluster_state')))
      const links = await Promise.all(
        nodes.slice(masters).map(node => node.figure('replication', 'master_link_status'))
      )
      const views = await Promise.all(nodes.map(slotsOf))
      const replicas = nodes.length - masters
      const isKnown = views.every(
        view =>
          view.reduce((sum, row) => sum + row.to - row.from + 1, 0) === SLOTS &&
          view.reduce((sum, row) => sum + row.replicas, 0) === replicas
      )
      return states.every(state => state === 'ok') && links.every(link => link === 'up') && isKnown
    })
  }
}

interface SlotRow {
  readonly from: number
  readonly to: number
  readonly port: number
  readonly replicas: number
}

async function slotsOf(node: RedisNode): Promise<SlotRow[]> {
  const rows = (await node.ask('CLUSTER', 'SLOTS')) as [number, number, [string, number], ...unknown[]][]
  return rows.map(([from, to, master, ...replicas]) => ({ from, to, port: master[1], replicas: replicas.length }))
}

async function infoOf(node: RedisNode, name: string): Promise<string | undefined> {
  const info = String(await node.ask('CLUSTER', 'INFO'))
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1]
}
