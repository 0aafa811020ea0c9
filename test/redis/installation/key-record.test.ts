import { expect } from 'chai'
import { connectInBackground, disconnect } from '../../../redis/connection/connections.js'
import {
  assertOwnKeys,
  type KeysInUse,
  type KeyUse,
  recordedKeys,
  recordFirstKeys,
  requireOwnKeys
} from '../../../redis/installation/key-record.js'
import { forgetKey, recordNewKey } from '../../../redis/operator/key-rotation.js'
import type { Check } from '../../../runtime/health.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedis } from '../../support/redis.js'

/** A key file; the last id is the current key. */
class File implements KeysInUse {
  problem: string | undefined
  readonly ids: readonly string[]
  constructor(ids: readonly string[]) {
    this.ids = ids
  }
  keyIds(): { current: string; all: readonly string[] } {
    return { current: this.ids.at(-1) ?? '', all: this.ids }
  }
  keyProblem(): string | undefined {
    return this.problem
  }
}

describe('the record of the keys of an installation', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  /** Starts a process with this file; answers what its checks say. */
  async function start(file: File, isFirst = false, use: KeyUse = {}) {
    const checks: { ready?: Check; warning?: Check; fact?: () => string } = {}
    await requireOwnKeys(
      test.redis,
      'vault',
      file,
      {
        onReadyCheck: (_, check) => {
          checks.ready = check
        },
        onWarning: (_, check) => {
          checks.warning = check
        },
        onFact: (_, tell) => {
          checks.fact = tell
        }
      },
      { isFirst, ...use }
    )
    return { problem: async () => await checks.ready?.(), warning: async () => await checks.warning?.() }
  }
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'it was accepted',
      (error: unknown) => String(error)
    )

  it('says in a sentence of its own which server cannot be asked', async () => {
    const away = connectInBackground('redis://127.0.0.1:1', 'commands', createLogger('test', 'silent'), 'REDIS_URL')
    const said = await recordedKeys(away, 'vault').then(() => '', String)
    expect(said).to.contain('The Redis of REDIS_URL').and.to.contain('there is no connection to Redis')
    expect(said).not.to.contain('Stream')
    await disconnect(away)
  })

  it('is begun by the first process that may, once', async () => {
    await start(new File(['theirs']))
    expect(await recordedKeys(test.redis, 'vault')).to.deep.equal([])
    await start(new File(['k1', 'k2']), true)
    await start(new File(['k1']), true)
    expect(await recordedKeys(test.redis, 'vault')).to.deep.equal(['k1', 'k2'])
    expect(await recordedKeys(test.redis, 'webhook')).to.deep.equal([])
  })

  it('refuses the file of another installation, at the start and while a process runs', async () => {
    const early = await start(new File(['theirs']))
    expect(await early.problem()).to.equal(undefined)
    await start(new File(['k1']), true)
    for (const isFirst of [false, true]) {
      expect(await refusal(start(new File(['theirs']), isFirst))).to.contain('belongs to another installation')
    }
    expect(await refusal(early.problem())).to.contain('belongs to key k1')
    expect(await recordedKeys(test.redis, 'vault')).to.deep.equal(['k1'])
  })

  it('only warns when a machine gets the file of a rotation late', async () => {
    await recordFirstKeys(test.redis, 'vault', { current: 'k1', all: ['k1'] })
    const late = await start(new File(['k1']))
    expect(await late.warning()).to.equal(undefined)
    await recordNewKey(test.redis, 'vault', 'k2')
    expect(await late.problem()).to.equal(undefined)
    expect(await late.warning()).to.contain('lacks k2')
    await start(new File(['k1']))
    expect(await (await start(new File(['k1', 'k2']))).warning()).to.equal(undefined)
  })

  it('takes a file that is newer than a restored Redis, and refuses one whose current key is retired', async () => {
    await recordFirstKeys(test.redis, 'vault', { current: 'k2', all: ['k1', 'k2'] })
    await assertOwnKeys(test.redis, 'vault', new File(['k1', 'k2', 'k3']).keyIds())
    await recordNewKey(test.redis, 'vault', 'k3')
    await forgetKey(test.redis, 'vault', 'k1')
    expect(await recordedKeys(test.redis, 'vault')).to.deep.equal(['k2', 'k3'])
    expect(await refusal(start(new File(['k0', 'k1'])))).to.contain('is outdated')
  })

  it('keeps the keys of rotations that happen at the same time', async () => {
    await recordFirstKeys(test.redis, 'vault', { current: 'k1', all: ['k1', 'old'] })
    const ids = ['k2', 'k3', 'k4', 'k5']
    await Promise.all([...ids.map(id => recordNewKey(test.redis, 'vault', id)), forgetKey(test.redis, 'vault', 'old')])
    expect(await recordedKeys(test.redis, 'vault')).to.have.members(['k1', ...ids])
    expect(await test.redis.get('vault_keys')).to.match(/^\[1,\["k1",/)
  })

  it('is left as it is, and refused, when it is damaged', async () => {
    await test.redis.set('vault_keys', 'k1 k2')
    expect(await refusal(start(new File(['k1', 'k2']), true))).to.contain(
      'vault_keys in the data of REDIS_URL is damaged'
    )
    expect(await test.redis.get('vault_keys')).to.equal('k1 k2')
  })

  it('reports a key file that cannot be used any more as a problem of the process', async () => {
    const file = new File(['k1'])
    const running = await start(file, true)
    file.problem = 'The file cannot be read (EACCES).'
    expect(await running.problem()).to.equal('The file cannot be read (EACCES).')
  })

  it('makes the newest key a problem to lack where it is needed, an older one a warning', async () => {
    await recordFirstKeys(test.redis, 'vault', { current: 'k2', all: ['k1', 'k2'] })
    const late = await start(new File(['k1', 'k2']), false, { needsNewest: true })
    expect(await late.problem()).to.equal(undefined)
    await recordNewKey(test.redis, 'vault', 'k3')
    expect(await late.problem()).to.contain('lacks k3')
    expect(await late.warning()).to.equal(undefined)
    const short = await start(new File(['k2', 'k3']), false, { needsNewest: true })
    expect(await short.problem()).to.equal(undefined)
    expect(await short.warning()).to.contain('lacks k1')
  })

  it('warns of a file that cannot be read any more where the process works without it', async () => {
    const file = new File(['k1'])
    const running = await start(file, true, { isOptional: true })
    file.problem = 'The file cannot be read (EACCES).'
    expect(await running.problem()).to.equal(undefined)
    expect(await running.warning()).to.equal('The file cannot be read (EACCES).')
  })
})
