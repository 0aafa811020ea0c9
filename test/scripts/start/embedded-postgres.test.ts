import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { Client } from 'pg'
import { startPostgres } from '../../../scripts/start/embedded-postgres.js'
import type { EmbeddedServer } from '../../../scripts/start/embedded-server.js'
import { freePort } from '../../../scripts/start/ports.js'
import { obtainPostgres, type PostgresBinary } from '../../../scripts/start/postgres-binary.js'
import { until } from '../../support/conditions.js'

describe('embedded PostgreSQL', () => {
  let dir = ''
  let binary: PostgresBinary
  let server: EmbeddedServer

  before(async () => {
    binary = await obtainPostgres(resolve('.vendor'), () => undefined)
    dir = await mkdtemp(join(tmpdir(), 'payments-postgres-'))
    // Closed to the user who runs the server instead of root.
    await chmod(dir, 0o700)
    server = await start()
  })
  after(async () => {
    await server.process.stop(2_000)
    await rm(dir, { recursive: true, force: true })
  })

  const start = async (): Promise<EmbeddedServer> =>
    startPostgres({ binary, port: await freePort(), dir: join(dir, 'postgres'), onOutput: () => undefined })
  const ask = async (url: string, statement: string): Promise<unknown[]> => {
    const client = new Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query<unknown[]>({ text: statement, rowMode: 'array' })).rows.flat()
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  it('keeps its data and its password from start to start, also after a kill', async () => {
    await ask(server.url, 'CREATE TABLE kept AS SELECT 1')
    await server.process.stop(0)
    const before = new URL(server.url).password
    server = await start()
    expect(await ask(server.url, 'TABLE kept')).to.deep.equal([1])
    expect(new URL(server.url).password).to.equal(before)
  })

  it('restarts after a kill', async () => {
    const { url, process: supervised } = server
    supervised.signal('SIGKILL')
    await until('it answers again', () => ask(url, 'SELECT 1').catch(() => undefined))
  })

  it('listens on the loopback address, requires the password, and writes each commit to the disk', async () => {
    const names = ['listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit', 'password_encryption']
    const columns = names.map(name => `current_setting('${name}')`)
    expect(await ask(server.url, `SELECT ${columns}`)).to.deep.equal(['127.0.0.1', '', 'on', 'on', 'scram-sha-256'])
    const other = new URL(server.url)
    other.password = 'wrong'
    const refusal = await ask(other.href, 'SELECT 1').catch((error: unknown) => error)
    expect(String(refusal)).to.contain('password authentication failed')
  })

  it('never runs as root, and its files are readable by its own user only', async () => {
    const [pid] = (await readFile(join(dir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')
    const uid = Number(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1])
    expect(uid).not.to.equal(0)
    const files = await Promise.all(['', 'password', 'data'].map(name => stat(join(dir, 'postgres', name))))
    expect(files.map(file => file.uid)).to.deep.equal([uid, uid, uid])
    expect(files.map(file => file.mode & 0o077)).to.deep.equal([0, 0, 0])
  })

  it('reports why it did not start', async () => {
    const port = await freePort()
    const missing = { folder: join(dir, 'nothing'), libraryPath: undefined }
    const empty = join(dir, 'empty')
    const error = await startPostgres({ binary: missing, port, dir: empty, onOutput: () => undefined }).catch(String)
    expect(error).to.match(/The embedded PostgreSQL on port \d+ did not start: .*nothing\/initdb/)
  })
})
