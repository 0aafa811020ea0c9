import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Redis } from '../../../redis/connection/connections.js'
import { openMemoryOnly } from '../../../redis/installation/memory-only.js'
import { FORMAT } from '../../../redis/stored-fields.js'
import { createTokenStore, type NewToken, newTokenId } from '../../../redis/tokens/tokens.js'
import { aToken } from '../../support/cards.js'
import { until, untilFast } from '../../support/conditions.js'
import { ConditionsUnderTest } from '../../support/conditions-of.js'
import { useRedis, useRedisNode } from '../../support/redis.js'
import { ReplicatedRedis, Sentinels } from '../../support/sentinels.js'

const INSTALLATION = { environment: 'test', partitions: 1, id: 'of-this-test' } as const

/** The part of a process that uses the memory-only Redis. */
class User {
  #process = new ConditionsUnderTest()

  /** Starts it; rejects when the start is refused. */
  async open(secretsRedisUrl: string, need: 'required' | 'optional' = 'optional'): Promise<Redis> {
    const { log, onStop, onReadyCheck, onWarning } = this.#process
    const config = { environment: 'test' as const, redisUrl: '', secretsRedisUrl }
    return await openMemoryOnly({ config, log, onStop, onReadyCheck, onWarning }, INSTALLATION, need)
  }

  async healthOf(kind: 'problem' | 'warning'): Promise<string | undefined> {
    return (await this.#process.health())[`${kind}s`]['memory-only redis']
  }

  async close(): Promise<void> {
    await this.#process.stop()
    this.#process = new ConditionsUnderTest()
  }
}

describe('the memory-only Redis', () => {
  const test = useRedis()
  const user = new User()
  /** A look that began before the change may still be in flight. */
  const untilAccepted = (): Promise<unknown> =>
    until('it is accepted', async () => (await user.healthOf('problem')) === undefined)
  afterEach(() => user.close())

  it('is used when it persists nothing; otherwise the start is refused, naming the setting to change', async () => {
    const redis = await user.open(test.secretsUrl)
    expect(await redis.get('token')).to.equal(null)
    expect([await user.healthOf('problem'), await user.healthOf('warning')]).to.deep.equal([undefined, undefined])
    const refusal = await user.open(test.url).then(String, String)
    expect(refusal).to.match(/SECRETS_REDIS_URL must not persist: .*appendonly is "yes", set it to "no"/)
    const cluster = await user
      .open(test.secretsUrl.replace('redis:', 'redis-cluster:').replace(/\/\d+$/, ''))
      .then(String, String)
    expect(cluster).to.match(/not a Cluster/)
  })

  it('prevents the start when it refuses the login or serves another installation', async () => {
    const stranger = test.secretsUrl.replace('redis://', 'redis://stranger:wrong@')
    expect(await user.open(stranger).then(String, String)).to.match(/WRONGPASS.*SECRETS_REDIS_URL/)
    await test.secrets.set('installation', JSON.stringify([FORMAT, 'another', 'live']))
    expect(await user.open(test.secretsUrl).then(String, String)).to.match(/serves installation another/)
    await test.secrets.del('installation')
  })

  it('is not used from the moment it is found to persist until that is corrected', async () => {
    const redis = await user.open(test.secretsUrl)
    // In so many seconds that no snapshot begins, however old the server is.
    await test.secrets.config('SET', 'save', '999999999 1')
    try {
      expect(await user.healthOf('problem')).to.match(/save is "999999999 1", set it to ""/)
      expect(await redis.get('token').then(String, String)).to.match(/not proved to keep nothing on a disk/)
    } finally {
      await test.secrets.config('SET', 'save', '')
    }
    await untilAccepted()
    expect(await redis.get('token')).to.equal(null)
  })

  it('is not used within seconds after it began to persist, also without a look at health', async () => {
    const redis = await user.open(test.secretsUrl)
    await test.secrets.config('SET', 'save', '999999999 1')
    try {
      const refusal = (): Promise<string> => redis.get('token').then(String, String)
      await until('it is refused', async () => /not proved to keep nothing/.test(await refusal()))
    } finally {
      await test.secrets.config('SET', 'save', '')
    }
    await until('it is used again', async () => (await redis.get('token').catch(() => 'refused')) === null)
  })

  it('is not used once it has written a snapshot, even by a user that may not read settings', async () => {
    await test.secrets.call('ACL', 'SETUSER', 'narrow', 'on', '>word', '~*', '&*', '+@all', '-config')
    const redis = await user.open(test.secretsUrl.replace('://', '://narrow:word@'))
    expect(await redis.get('token')).to.equal(null)
    await test.secrets.call('SAVE')
    try {
      expect(await user.healthOf('problem')).to.match(/has written a snapshot .*delete the file, .*CONFIG RESETSTAT/)
      expect(await redis.get('token').then(String, String)).to.match(/not proved to keep nothing on a disk/)
    } finally {
      const [, dir = ''] = (await test.secrets.config('GET', 'dir')) as string[]
      await rm(join(dir, 'dump.rdb'))
      await test.secrets.call('CONFIG', 'RESETSTAT')
    }
    await untilAccepted()
    await test.secrets.call('ACL', 'DELUSER', 'narrow')
  })

  it('causes a warning when it evicts keys', async () => {
    await user.open(test.secretsUrl)
    await test.secrets.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const warning = await user.healthOf('warning')
    await test.secrets.config('SET', 'maxmemory-policy', 'noeviction')
    expect(warning).to.match(
      /may evict one-use tokens, CVVs and locks: maxmemory-policy is allkeys-lru; set noeviction/
    )
  })

  it('causes a warning when it refuses writes, or a problem where it is required, with what to do', async () => {
    const required = new User()
    await user.open(test.secretsUrl)
    await required.open(test.secretsUrl, 'required')
    for (const [begin, end, advice] of [
      [['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'], /READONLY.*name the master/],
      [['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0'], /OOM.*raise its maxmemory/]
    ] as const) {
      const [command, ...args] = begin
      await test.secrets.call(command, ...args)
      const found = [await user.healthOf('warning'), await required.healthOf('problem')]
      await test.secrets.call(end[0], ...end.slice(1))
      for (const sentence of found) expect(sentence).to.match(advice)
    }
    expect(await user.healthOf('warning')).to.equal(undefined)
    await required.close()
  })

  it('is used again within seconds after it briefly refused to answer, without a probe', async () => {
    await test.secrets.call('ACL', 'SETUSER', 'late', 'on', '>word', '~*', '&*', '+@all')
    const redis = await user.open(test.secretsUrl.replace('://', '://late:word@'))
    await test.secrets.call('ACL', 'SETUSER', 'late', '-info')
    await test.secrets.call('CLIENT', 'KILL', 'USER', 'late')
    await until('it is refused', async () => (await redis.get('token').then(() => '', String)).includes('not proved'))
    await test.secrets.call('ACL', 'SETUSER', 'late', '+info')
    await until('it is used', async () => (await redis.get('token').catch(() => '')) === null)
    await test.secrets.call('ACL', 'DELUSER', 'late')
  })

  describe('that is down', () => {
    const server = useRedisNode(before, ['--appendonly', 'no'])

    it('does not prevent a start: a warning, or a problem where it is required; used once it is proved', async () => {
      await server.node.kill()
      const redis = await user.open(server.node.url)
      expect(await redis.get('token').then(String, String)).to.match(/is down/)
      expect(await user.healthOf('problem')).to.equal(undefined)
      expect(await user.healthOf('warning')).to.match(/Redis of SECRETS_REDIS_URL can't be used .*answered 503/)
      const required = new User()
      await required.open(server.node.url, 'required')
      expect(await required.healthOf('problem')).to.match(/can't be used/)
      await required.close()
      await server.node.restart()
      await until('it is used', async () => (await redis.get('token').catch(() => '')) === null)
      expect(await user.healthOf('warning')).to.equal(undefined)
    })

    it('is not used when it comes back with persistence', async () => {
      const redis = await user.open(server.node.url)
      await redis.set('token', '1')
      await server.node.kill()
      await server.node.restart(['--save', '999999999 1'])
      await until('the connection is back', () => redis.status === 'ready')
      await until('it is asked', async () => /save is "999999999 1"/.test((await user.healthOf('problem')) ?? ''))
      expect(await redis.set('token', '1').then(String, String)).to.match(/not proved/)
      await server.node.kill()
      await server.node.restart()
    })

    it('is reported within a second when it is silent', async () => {
      await user.open(server.node.url)
      server.node.signal('SIGSTOP')
      try {
        const warning = await untilFast('it is reported', 1_000, () => user.healthOf('warning'))
        expect(warning).to.match(/can't be used/)
      } finally {
        server.node.signal('SIGCONT')
      }
    })
  })
})

describe('the memory-only Redis behind Sentinels', () => {
  let servers: ReplicatedRedis
  let sentinels: Sentinels
  const user = new User()
  before(async () => {
    servers = await ReplicatedRedis.start('memory-only')
    sentinels = await Sentinels.start(servers)
  })
  after(async () => {
    await user.close()
    await sentinels?.stop()
    await servers?.stop()
  })

  for (const [setting, bad, good] of [
    ['save', '999999999 1', ''],
    ['appendonly', 'yes', 'no'],
    ['repl-diskless-load', 'on-empty-db', 'swapdb'],
    ['repl-diskless-sync', 'no', 'yes']
  ] as const) {
    it(`is refused when a replica has ${setting} "${bad}"`, async () => {
      await servers.replica.ask('CONFIG', 'SET', setting, bad)
      const refusal = await user.open(sentinels.url).then(String, String)
      await servers.replica.ask('CONFIG', 'SET', setting, good)
      expect(refusal).to.match(new RegExp(`must not persist: replica 127.0.0.1:\\d+: ${setting} is "${bad}"`))
    })
  }

  it('warns of a replica that cannot be queried', async () => {
    await user.open(sentinels.url)
    servers.replica.signal('SIGSTOP')
    expect(await user.healthOf('warning')).to.match(/could not be asked whether they persist: 127\.0\.0\.1:\d+ \(/)
    servers.replica.signal('SIGCONT')
    await until('it is asked again', async () => (await user.healthOf('warning')) === undefined)
    await user.close()
  })

  it('writes no file when a replica that holds data synchronises in full; with on-empty-db Redis would', async () => {
    const { master, replica } = servers
    const synchronise = async (load: string): Promise<boolean> => {
      const syncs = async (): Promise<number> => Number(await master.figure('stats', 'sync_full'))
      const before = await syncs()
      await replica.ask('REPLICAOF', 'NO', 'ONE')
      await replica.ask('SET', 'own', '1')
      await replica.ask('CONFIG', 'SET', 'repl-diskless-load', load)
      await replica.ask('REPLICAOF', '127.0.0.1', String(master.port))
      const follows = async (): Promise<boolean> => Number(await master.ask('WAIT', '1', '100')) === 1
      await until('it follows again', async () => (await syncs()) > before && (await follows()))
      const files = await Promise.all(['master', 'replica'].map(name => readdir(join(servers.dir, name))))
      return files.flat().some(name => name.endsWith('.rdb'))
    }
    expect(await synchronise('swapdb')).to.equal(false)
    expect(await synchronise('on-empty-db')).to.equal(true)
    await replica.ask('CONFIG', 'SET', 'repl-diskless-load', 'swapdb')
  })

  it('fails over: tokens may be gone, and new ones are taken by the new master once it is proved', async () => {
    const redis = await user.open(sentinels.url)
    const store = createTokenStore(redis)
    const isTaken = (token: NewToken): Promise<boolean> =>
      store.put(token, 60_000).then(
        () => true,
        () => false
      )
    await until('the first master takes tokens', () => isTaken(aToken()))
    await sentinels.killMaster()
    const next = { ...aToken(), tokenId: newTokenId() }
    await until('the new master takes tokens', () => isTaken(next))
    // The Sentinels may close a connection to the new master once more.
    const claim = await until('a claim is answered', () =>
      store.claim(next.tokenId, next.merchantId, 'record').catch(() => undefined)
    )
    expect(claim.kind).to.equal('claimed')
    await until('nothing is wrong with it', async () => (await user.healthOf('problem')) === undefined)
  })
})
