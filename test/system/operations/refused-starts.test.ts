/** What a process does that was given the wrong configuration, or the data of another installation: it ends, and says why. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { claimInstallation } from '../../../redis/installation/installation.js'
import { parseProcfile } from '../../../scripts/start/procfile.js'
import { ensureKeyFiles, keyFilesIn, webhookKeyFileIn } from '../../../vault/key-files.js'
import { useRedis } from '../../support/redis.js'

const processes = parseProcfile(readFileSync('Procfile', 'utf8'))

/** The lines that a process logs until it ends, and its exit code. */
async function endOf(command: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; lines: LogLine[] }> {
  const child: ChildProcess = spawn('/bin/sh', ['-c', command], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const out = child.stdout === null ? '' : await text(child.stdout)
  const lines = out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as LogLine)
  return { code: await ended, lines }
}

interface LogLine {
  readonly level: string
  readonly msg: string
  readonly problems?: readonly string[]
  readonly err?: { readonly message: string }
}

describe('a process that is started wrongly', () => {
  const test = useRedis()
  let dir = ''
  let keyFiles: NodeJS.ProcessEnv = {}
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'refused-'))
    const { publicFile, privateFile } = ensureKeyFiles(keyFilesIn(dir))
    keyFiles = {
      VAULT_PUBLIC_KEYS_FILE: publicFile,
      VAULT_PRIVATE_KEYS_FILE: privateFile,
      WEBHOOK_KEYS_FILE: ensureKeyFiles(webhookKeyFileIn(dir)).privateFile
    }
  })
  after(() => rmSync(dir, { recursive: true }))

  it('reports all problems of its configuration in one JSON line, and ends with 78', async () => {
    const [timers] = processes.filter(({ name }) => name === 'timers')
    const { code, lines } = await endOf(timers?.command ?? '', { REDIS_URL: 'localhost', TIMERS_INTERVAL: '5' })
    expect(code).to.equal(78)
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include({ level: 'fatal', msg: 'the configuration is wrong, nothing was started' })
    const [misspelt, environment, address, ...others] = lines[0]?.problems ?? []
    expect(misspelt).to.contain('did you mean TIMERS_INTERVAL_MS?')
    expect(environment).to.equal('SERVICE_ENV is not set: must be one of test, live')
    expect(address).to.contain('REDIS_URL: A Redis address must look like')
    expect(others).to.deep.equal([])
  })

  it('refuses in live what opens its memory, its passwords or its connections to others', async () => {
    const [payments] = processes.filter(({ name }) => name === 'payments')
    const doors = {
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      DEBUG: 'ioredis:*',
      NODE_OPTIONS: '--inspect=127.0.0.1:0 --no-warnings'
    }
    const { code, lines } = await endOf(payments?.command ?? '', { ...keyFiles, ...doors, SERVICE_ENV: 'live' })
    expect(code).to.equal(78)
    const problems = lines.at(-1)?.problems?.join('\n')
    for (const found of [/^NODE_TLS_REJECT_UNAUTHORIZED=0: /m, /^DEBUG: /m, /^A debugger is open at 127/m])
      expect(problems).to.match(found)
  })

  for (const { name, command } of processes.filter(one => one.name !== 'network')) {
    it(`as ${name} of the test environment does not touch live data`, async () => {
      await test.redis.flushdb()
      await claimInstallation(test.redis, { environment: 'live', installationId: 'eu', partitions: 16 })
      const { code, lines } = await endOf(command, {
        ...keyFiles,
        ...(name === 'archive' ? { ARCHIVE_URL: 'postgres://127.0.0.1:1/archive' } : {}),
        SERVICE_ENV: 'test',
        REDIS_URL: test.url,
        SECRETS_REDIS_URL: test.secretsUrl
      })
      expect(code).to.equal(1)
      const last = lines.at(-1)
      expect(last).to.include({ level: 'fatal', msg: 'could not start' })
      expect(last?.err?.message).to.contain('REDIS_URL holds live data (installation eu), SERVICE_ENV says test.')
      expect(await test.redis.keys('*')).to.deep.equal(['installation'])
      expect(await test.secrets.dbsize()).to.equal(0)
    })
  }
})
