/** Everything that a running service leaves where it could be read: files, Redis, processes, ops servers. */
import { openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { scanKeys } from '../../../redis/connection/cluster-nodes.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { createLogger } from '../../../runtime/log.js'
import { OPS_FILE, readJson } from '../../../scripts/start/data-dir.js'

/** The files of a folder, by their paths in it. */
export function filesIn(folder: string): Map<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return new Map(entries.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name))]))
}

/** Every key and value of a Redis, as text. */
export async function contentOf(url: string): Promise<string> {
  const redis = await connect(url, 'commands', createLogger('test', 'silent'))
  try {
    const values: unknown[] = []
    for await (const keys of scanKeys(redis, { count: 1_000 })) {
      for (const key of keys) values.push(key, await readValue(redis, key))
    }
    return JSON.stringify(values)
  } finally {
    await disconnect(redis)
  }
}

/** Makes a durable Redis write a snapshot beside its log, as a backup would. */
export async function writeSnapshot(url: string): Promise<void> {
  const redis = await connect(url, 'commands', createLogger('test', 'silent'))
  await redis.save()
  await disconnect(redis)
}

function readValue(redis: Redis, key: string): Promise<unknown> {
  const readers: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, '0', '-1', 'WITHSCORES'),
    stream: () => redis.xrange(key, '-', '+'),
    // It has ended since it was listed: locks and leases come and go.
    none: async () => null
  }
  return redis.type(key).then(type => readers[type]?.() ?? Promise.reject(new Error(`cannot read a ${type}`)))
}

/** /metrics of every process. */
export async function metricsOf(dataDir: string): Promise<string> {
  const places = Object.values((await readJson(dataDir, OPS_FILE)) ?? {})
  const pages = await Promise.all(places.map(async place => (await fetch(`${String(place)}/metrics`)).text()))
  if (pages.length === 0) throw new Error('no process tells where its metrics are')
  return pages.join('\n')
}

/** What `ps` shows of a process to every user, and its environment. */
export function surfaceOf(pid: number): string {
  return ['cmdline', 'environ'].map(name => readFileSync(`/proc/${pid}/${name}`, 'latin1')).join('\n')
}

/** What a core dump of a process would hold: its writable memory, in pieces that overlap a little. */
export function* memoryOf(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const piece = Buffer.alloc(PIECE_BYTES)
  for (const { start, end } of writableRanges(pid)) {
    for (let place = start; place < end; place += BigInt(PIECE_BYTES - OVERLAP_BYTES)) {
      const length = Number(end - place < PIECE_BYTES ? end - place : BigInt(PIECE_BYTES))
      const read = readAt(memory, piece, length, place)
      if (read > 0) yield piece.subarray(0, read)
    }
  }
}

const PIECE_BYTES = 4_194_304
const OVERLAP_BYTES = 64

function writableRanges(pid: number): { start: bigint; end: bigint }[] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')
  return lines.flatMap(line => {
    const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    return start === undefined || end === undefined ? [] : [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) }]
  })
}

/** A range may have been given back since it was listed. */
function readAt(file: number, into: Buffer, length: number, place: bigint): number {
  try {
    return readSync(file, into, 0, length, place)
  } catch {
    return 0
  }
}
