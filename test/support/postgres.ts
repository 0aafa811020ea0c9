/**
 * PostgreSQL for tests: one server for the whole run, started when the first test file asks. Each call of `usePostgres`
 * gets a database of its own with the tables of the archive. `TEST_ARCHIVE_URL` names another server.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from 'pg'
import { migrate } from '../../archive/migrate.js'
import { startPostgres } from '../../scripts/start/embedded-postgres.js'
import type { EmbeddedServer } from '../../scripts/start/embedded-server.js'
import { freePort } from '../../scripts/start/ports.js'
import { obtainPostgres } from '../../scripts/start/postgres-binary.js'
import { afterLastTest } from './after-last-test.js'

/** One database. Usable inside hooks and tests. */
export interface TestPostgres {
  /** For ARCHIVE_URL. */
  readonly url: string
  /** Runs statements as the owner of the database. */
  ask(statement: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
}

let server: Promise<string> | undefined
let databasesUsed = 0

/** Call it inside a `describe`: it makes the database before the tests and disconnects after them. */
export function usePostgres(): TestPostgres {
  const state: { url?: string; client?: Client } = {}
  before(async () => {
    state.url = await makeDatabase()
    state.client = await connected(state.url)
  })
  after(() => state.client?.end())
  return {
    get url() {
      if (state.url === undefined) throw new Error('usePostgres: there is a database inside hooks and tests only')
      return state.url
    },
    async ask(statement, values = []) {
      const result = await state.client?.query<Record<string, unknown>>(statement, [...values])
      return result?.rows ?? []
    }
  }
}

async function makeDatabase(): Promise<string> {
  server ??= startServer()
  const url = new URL(await server)
  const name = `test_${process.pid}_${++databasesUsed}`
  const admin = await connected(url.href)
  await admin.query(`DROP DATABASE IF EXISTS ${name}`)
  await admin.query(`CREATE DATABASE ${name}`)
  await admin.end()
  url.pathname = name
  await migrate(url.href, 10_000)
  return url.href
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  // A test may stop the server.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function startServer(): Promise<string> {
  const url = process.env['TEST_ARCHIVE_URL']
  if (url) return url
  const binary = await obtainPostgres(resolve('.vendor'), line => process.stderr.write(`${line}\n`))
  // Memory, where the system has it as a folder: fsync is then free, and no disk is worn out.
  const dir = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'payments-test-'))
  let running: EmbeddedServer | undefined
  afterLastTest(async () => {
    await running?.process.stop(2_000)
    await rm(dir, { recursive: true, force: true })
  })
  const settings = ['max_connections=100', 'shared_buffers=32MB']
  running = await startPostgres({ binary, port: await freePort(), dir, settings, onOutput: () => {} })
  return running.url
}
