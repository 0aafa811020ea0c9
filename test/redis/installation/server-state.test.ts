import { mkdir, rmdir } from 'node:fs/promises'
import { type AddressInfo, createServer, connect as openSocket, type Server } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect } from '../../../redis/connection/connections.js'
import { connectDurable, type RefusedWrites } from '../../../redis/installation/durable.js'
import { openMemoryOnly } from '../../../redis/installation/memory-only.js'
import { readConfig } from '../../../runtime/config.js'
import { createLogger } from '../../../runtime/log.js'
import { versionFinding } from '../../../scripts/operator/doctor/durable-checks.js'
import { until } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { useRedisNode } from '../../support/redis.js'

const WRITES = 'writes of REDIS_URL'
const INSTALLATION = { environment: 'test', partitions: 16, id: 'one' } as const

describe('a Redis in trouble is named with what to do', () => {
  const server = useRedisNode()
  let process: ConditionsUnderTest
  beforeEach(() => {
    process = new ConditionsUnderTest()
  })
  afterEach(() => process.stop())

  const start = async (url: string, refusedWrites?: RefusedWrites, conditions = process) => {
    const { log, signal, onStop, onReadyCheck, onWarning } = conditions
    const config = readConfig({ SERVICE_ENV: 'test', REDIS_URL: url })
    const context = { config, log, signal, onStop, onReadyCheck, onWarning, onFact: () => undefined }
    return await connectDurable(context, refusedWrites)
  }

  it('older than 7.0: the start is refused before anything else, in words of versions', async () => {
    const old = await asVersion(server.node.port, '6.2.1')
    const url = `redis://127.0.0.1:${(old.address() as AddressInfo).port}`
    try {
      expect(await start(url).then(String, String)).to.match(
        /The Redis of REDIS_URL is too old: 127\.0\.0\.1:\d+ is Redis 6\.2\.1, and this service needs 7\.0 or newer\. Bring it to a newer/
      )
      const { log, onStop, onReadyCheck, onWarning } = process
      const config = { environment: 'test' as const, redisUrl: '', secretsRedisUrl: url }
      expect(
        await openMemoryOnly({ config, log, onStop, onReadyCheck, onWarning }, INSTALLATION, 'optional').then(
          String,
          String
        )
      ).to.match(/The Redis of SECRETS_REDIS_URL is too old/)
      expect(await server.node.ask('DBSIZE')).to.equal(0)
    } finally {
      old.close()
    }
  })

  it('replaced by an older one while a process runs: /readyz says so', async () => {
    let version = '7.0.1'
    const changing = await asVersion(server.node.port, () => version)
    await start(`redis://127.0.0.1:${(changing.address() as AddressInfo).port}`)
    expect((await process.health()).problems).to.deep.equal({})
    version = '6.2.1'
    expect((await process.health()).problems['version of REDIS_URL']).to.match(/is too old: .* is Redis 6\.2\.1/)
    changing.close()
  })

  it('that cannot write to its disk: /readyz says so, and a start continues', async () => {
    await start(server.node.url)
    await mkdir(join(server.dir, 'dump.rdb'))
    await server.node.ask('CONFIG', 'SET', 'save', '3600 1')
    await server.node.ask('BGSAVE')
    await until(
      'the snapshot failed',
      async () => (await server.node.figure('persistence', 'rdb_last_bgsave_status')) === 'err'
    )
    const sentence =
      /REDIS_URL refuses writes, because it can't write to its disk \(MISCONF .* Make room there, or repair it/
    expect((await process.health()).problems[WRITES]).to.match(sentence)
    await start(server.node.url)
    expect((await process.health()).problems[WRITES]).to.match(sentence)
    await server.node.ask('CONFIG', 'SET', 'save', '')
    await rmdir(join(server.dir, 'dump.rdb'))
    expect((await process.health()).problems).to.deep.equal({})
  })

  for (const [trouble, begin, end, sentence] of [
    [
      'whose memory is full',
      ['CONFIG', 'SET', 'maxmemory', '1'],
      ['CONFIG', 'SET', 'maxmemory', '0'],
      /because its memory is full \(OOM .*Raise its maxmemory/
    ],
    [
      'that is a replica',
      ['REPLICAOF', '127.0.0.1', '1'],
      ['REPLICAOF', 'NO', 'ONE'],
      /because it is a replica \(READONLY .*Let REDIS_URL lead to the master/
    ],
    [
      'that too few replicas follow',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
      /because too few replicas follow it \(NOREPLICAS .*lower its min-replicas-to-write/
    ],
    [
      'that took a right back',
      ['ACL', 'SETUSER', 'default', '-eval'],
      ['ACL', 'SETUSER', 'default', '+eval'],
      /because its user may not \(NOPERM .*Load durable\.acl/
    ]
  ] as const) {
    it(`${trouble}: /readyz says so, a problem to those that write and a warning to the \`api\``, async () => {
      const api = new ConditionsUnderTest()
      await start(server.node.url)
      await start(server.node.url, 'warning', api)
      await server.node.ask(...begin)
      try {
        expect((await process.health()).problems[WRITES]).to.match(sentence)
        const { problems, warnings } = await api.health()
        expect(warnings[WRITES]).to.match(sentence)
        expect(problems).to.deep.equal({})
      } finally {
        await server.node.ask(...end)
        await api.stop()
      }
      expect((await process.health()).problems).to.deep.equal({})
    })
  }

  it('whose clients are too many: the start and /readyz say so, with the setting', async () => {
    const { durable } = await start(server.node.url)
    await server.node.ask('CONFIG', 'SET', 'maxclients', '1')
    try {
      // A busy machine may show the client a closed connection before the reason.
      await until('the start says so', async () => {
        const starting = connect(server.node.url, 'commands', createLogger('test', 'silent'), 'REDIS_URL', 1_000)
        const refused = await starting.then(String, String)
        return /REDIS_URL .* could not be used .*maxclients is reached\)\. Raise its maxclients/.test(refused)
      })
      await server.node.ask('CLIENT', 'KILL', 'ID', String(await durable.client('ID')))
      await until('/readyz says so', async () => {
        const { 'durable redis': sentence = '' } = (await process.health()).problems
        return /REDIS_URL can't be asked \(.*maxclients is reached\)\. Raise its maxclients/.test(sentence)
      })
    } finally {
      await server.node.ask('CONFIG', 'SET', 'maxclients', '10000')
    }
    await until('it is used again', async () => Object.keys((await process.health()).problems).length === 0)
  })
})

describe('the version that doctor finds', () => {
  for (const [version, state] of [
    ['6.2.24', 'problem'],
    ['7.0.15', 'warning'],
    ['7.2.15', 'warning'],
    ['7.2.16', 'ok'],
    ['7.4.11', 'ok'],
    ['8.0.9', 'warning'],
    ['8.2.8', 'warning'],
    ['8.10.0', 'warning'],
    ['8.10.1', 'ok'],
    ['8.12.0', 'ok'],
    ['9.0.0', 'ok']
  ] as const) {
    it(`${version} is ${state === 'ok' ? 'ok' : `a ${state}`} in live`, () => {
      const finding = versionFinding('version of REDIS_URL', 'host:1', version, 'live')
      expect(finding.state).to.equal(state)
      if (state === 'warning') expect(finding.mend).to.match(/Bring it to (a maintained line|\d+\.\d+\.\d+ or newer)/)
    })
  }

  it('may be that of the distribution in the test environment', () => {
    expect(versionFinding('version of REDIS_URL', 'host:1', '7.0.15', 'test').state).to.equal('ok')
  })
})

/** A way to the server that reports another version. `version` has no more characters than the true one. */
async function asVersion(port: number, version: string | (() => string)): Promise<Server> {
  const reported = typeof version === 'string' ? () => version : version
  const server = createServer(client => {
    const redis = openSocket(port, '127.0.0.1')
    client.on('error', () => redis.destroy()).on('close', () => redis.destroy())
    redis.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.pipe(redis)
    redis.on('data', data => {
      const text = data.toString('latin1')
      client.write(Buffer.from(text.replace(/(redis_version:)[^\r]+/, replaced), 'latin1'))
    })
    const replaced = (whole: string, name: string): string => {
      const shown = reported()
      return name + shown.padEnd(whole.length - name.length)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}
