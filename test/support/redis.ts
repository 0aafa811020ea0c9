/**
 * Redis for tests: one durable and one memory-only server for the whole run, started when the first test file asks.
 *
 * Each call of `useRedis` gets a database of its own (SELECT n), empty at the start of its `describe`, so that test
 * files can't see each other's keys. Pub/sub channels are not divided by database: put something unique into them.
 * `TEST_REDIS_URL` and `TEST_SECRETS_REDIS_URL` name other servers; their databases are flushed!
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { createLogger } from '../../runtime/log.js'
import { startRedis } from '../../scripts/start/embedded-redis.js'
import type { EmbeddedServer } from '../../scripts/start/embedded-server.js'
import { freePort } from '../../scripts/start/ports.js'
import { obtainRedis } from '../../scripts/start/redis-binary.js'
import { afterLastTest } from './after-last-test.js'
import { RedisNode } from './redis-node.js'

/** One database on each server, and a connection to each. Usable inside hooks and tests. */
export interface TestRedis {
  readonly url: string
  readonly secretsUrl: string
  readonly redis: Redis
  readonly secrets: Redis
}

const DATABASES = 512

let servers: Promise<readonly [string, string]> | undefined
let databasesUsed = 0

/** Call it inside a `describe`: it connects before the tests and disconnects after them. */
export function useRedis(): TestRedis {
  const state: { value?: TestRedis } = {}
  before(async () => {
    state.value = await openDatabase()
  })
  after(async () => {
    await Promise.all([state.value?.redis, state.value?.secrets].map(async redis => redis && disconnect(redis)))
  })
  const get = (): TestRedis => {
    if (state.value === undefined) throw new Error('useRedis: there is a connection inside hooks and tests only')
    return state.value
  }
  return {
    get url() {
      return get().url
    },
    get secretsUrl() {
      return get().secretsUrl
    },
    get redis() {
      return get().redis
    },
    get secrets() {
      return get().secrets
    }
  }
}

/** A server that the tests of one suite may kill, or each test (`beforeEach`); it is durable, unless `settings` change that. */
export function useRedisNode(often = before, settings: readonly string[] = []): { node: RedisNode; dir: string } {
  const own = {} as { node: RedisNode; dir: string }
  often(async () => {
    own.dir = await mkdtemp(join(tmpdir(), 'payments-node-'))
    const binary = await obtainRedis(resolve('.vendor'), line => process.stderr.write(`${line}\n`))
    own.node = await RedisNode.start(binary, own.dir, settings)
  })
  const atEnd = often === before ? after : afterEach
  atEnd(async () => {
    await own.node.stop()
    await rm(own.dir, { recursive: true, force: true })
  })
  return own
}

async function openDatabase(): Promise<TestRedis> {
  servers ??= startServers()
  const urls = await servers
  const database = databasesUsed++
  if (database >= DATABASES) throw new Error(`useRedis: more than ${DATABASES} databases; raise DATABASES`)
  const log = createLogger('test', 'silent')
  const [url, secretsUrl] = [`${urls[0]}/${database}`, `${urls[1]}/${database}`]
  const [redis, secrets] = await Promise.all([connect(url, 'commands', log), connect(secretsUrl, 'commands', log)])
  await Promise.all([redis.flushdb(), secrets.flushdb()])
  return { url, secretsUrl, redis, secrets }
}

async function startServers(): Promise<readonly [string, string]> {
  const { TEST_REDIS_URL: url, TEST_SECRETS_REDIS_URL: secretsUrl } = process.env
  if (url && secretsUrl) return [url, secretsUrl]

  const binary = await obtainRedis(resolve('.vendor'), line => process.stderr.write(`${line}\n`))
  // Memory, where the system has it as a folder: fsync is then free, and no disk is worn out.
  const dir = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'payments-test-'))
  const start = async (kind: 'redis' | 'secrets-redis'): Promise<EmbeddedServer> =>
    startRedis({ kind, binary, port: await freePort(), dir: join(dir, kind), databases: DATABASES, onOutput: () => {} })
  const [durable, secrets] = [await start('redis'), await start('secrets-redis')]
  afterLastTest(async () => {
    await Promise.all([durable.process.stop(2_000), secrets.process.stop(2_000)])
    await rm(dir, { recursive: true, force: true })
  })
  return [durable.url, secrets.url]
}
