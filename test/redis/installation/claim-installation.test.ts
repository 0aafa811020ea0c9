import { expect } from 'chai'
import { forgetAcquirer, requireOwnAcquirer } from '../../../redis/installation/acquirer-record.js'
import {
  awaitInstallation,
  changeOf,
  claimInstallation,
  findInstallation,
  tieMemoryOnly
} from '../../../redis/installation/installation.js'
import { keys } from '../../../redis/keys.js'
import { FORMAT } from '../../../redis/stored-fields.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { useRedis } from '../../support/redis.js'

const TEST = { environment: 'test', installationId: '', partitions: 16 } as const
const LIVE = { ...TEST, environment: 'live' } as const
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : `no error: ${String(error)}`)

describe('the durable data', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  it('is created with the settings of the first process and an id of its own', async () => {
    const born = await claimInstallation(test.redis, LIVE)
    expect(born).to.include({ environment: 'live', partitions: 16 })
    expect(born.id).to.match(/^[0-9a-f-]{36}$/)
    expect(JSON.parse((await test.redis.get('installation')) ?? '')).to.deep.equal([FORMAT, born.id, 'live', 16])
    expect(await claimInstallation(test.redis, LIVE)).to.deep.equal(born)
  })

  for (const [what, wanted, sentence] of [
    [
      'environment',
      TEST,
      /^REDIS_URL holds live data \(installation eu\), SERVICE_ENV says test\..* nothing was written\.$/
    ],
    [
      'number of partitions',
      { ...LIVE, partitions: 8 },
      /created with 16 partitions, PARTITIONS says 8\. Set PARTITIONS=16/
    ],
    ['installation', { ...LIVE, installationId: 'us' }, /holds the data of installation eu, INSTALLATION_ID says us\./]
  ] as const) {
    it(`refuses another ${what}, and is not touched`, async () => {
      await claimInstallation(test.redis, { ...LIVE, installationId: 'eu' })
      const before = await test.redis.get('installation')
      expect(messageOf(await claimInstallation(test.redis, wanted).catch((error: unknown) => error))).to.match(sentence)
      expect(await test.redis.keys('*')).to.deep.equal(['installation'])
      expect(await test.redis.get('installation')).to.equal(before)
    })
  }

  for (const [what, stored, sentence] of [
    [
      'in another format',
      JSON.stringify([FORMAT + 1, 'eu', 'live', 16]),
      /^REDIS_URL holds data in format 2, and this version \(.+\) reads format 1\. Start a version that reads format 2; nothing was written\.$/
    ],
    ['of another program', 'x', /^The key `installation` of REDIS_URL is not readable/]
  ] as const) {
    it(`${what} is refused, and is not touched`, async () => {
      await test.redis.set('installation', stored)
      for (const open of [claimInstallation(test.redis, LIVE), changeOf(test.redis, 'eu')])
        expect(messageOf(await open.catch((error: unknown) => error))).to.match(sentence)
      expect(await test.redis.get('installation')).to.equal(stored)
    })
  }

  it('is created once when several processes start at the same moment', async () => {
    const claims = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => claimInstallation(test.redis, index % 2 === 0 ? LIVE : TEST))
    )
    const taken = claims.flatMap(claim => (claim.status === 'fulfilled' ? [claim.value] : []))
    expect(taken).to.have.length(10)
    expect(new Set(taken.map(({ id }) => id)).size).to.equal(1)
  })

  it('is opened on a server that refuses writes', async () => {
    const born = await claimInstallation(test.redis, LIVE)
    await test.redis.config('SET', 'maxmemory', '1')
    try {
      expect(await claimInstallation(test.redis, LIVE)).to.deep.equal(born)
    } finally {
      await test.redis.config('SET', 'maxmemory', '0')
    }
  })

  it('is waited for by a process that may not write, which refuses another environment, too', async () => {
    const stopping = new AbortController()
    const context = { log: createLogger('test', 'silent'), signal: stopping.signal }
    const waiting = awaitInstallation(test.redis, { ...context, config: TEST })
    const refused = awaitInstallation(test.redis, { ...context, config: LIVE }).catch((error: unknown) => error)
    await delay(50)
    expect(await test.redis.dbsize()).to.equal(0)
    const born = await claimInstallation(test.redis, TEST)
    expect(await waiting).to.deep.equal(born)
    expect(messageOf(await refused)).to.contain('REDIS_URL holds test data')
  })

  it('is a problem in /readyz when another server, or an emptied one, answers in its place', async () => {
    const { id } = await claimInstallation(test.redis, LIVE)
    expect(await changeOf(test.redis, id)).to.equal(undefined)
    await test.redis.flushdb()
    expect(await changeOf(test.redis, id)).to.contain(
      `The Redis of REDIS_URL is empty; this process was started on ${id}`
    )
    await claimInstallation(test.redis, { ...LIVE, installationId: 'other' })
    expect(await changeOf(test.redis, id)).to.contain('holds the data of installation other')
  })
})

describe('the memory-only Redis', () => {
  const test = useRedis()
  const live = { environment: 'live', partitions: 16, id: 'eu' } as const

  it('serves one installation, so that a token made in test never reaches live', async () => {
    await tieMemoryOnly(test.secrets, live)
    await tieMemoryOnly(test.secrets, live)
    for (const other of [{ ...live, environment: 'test' } as const, { ...live, id: 'us' }]) {
      const refusal: unknown = await tieMemoryOnly(test.secrets, other).catch((error: unknown) => error)
      expect(messageOf(refusal)).to.contain('The Redis of SECRETS_REDIS_URL serves installation eu (live)')
    }
  })

  it('is not taken for the durable one when the two addresses are swapped', async () => {
    await tieMemoryOnly(test.secrets, live)
    const refusal: unknown = await findInstallation(test.secrets).catch((error: unknown) => error)
    expect(messageOf(refusal)).to.contain('Are REDIS_URL and SECRETS_REDIS_URL swapped?')
  })

  it('is tied again after it forgot everything', async () => {
    await test.secrets.flushdb()
    await tieMemoryOnly(test.secrets, { ...live, id: 'us' })
    expect(await test.secrets.get('installation')).to.contain('us')
  })
})

const ACQUIRER = {
  environment: 'live',
  networkMerchantId: 'account-1',
  networkTransactionUrl: 'https://api.example',
  networkQueryUrl: 'https://query.example'
} as const

describe('the acquirer of an installation', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  async function refusalOf(settings: Parameters<typeof requireOwnAcquirer>[1]): Promise<string> {
    return await requireOwnAcquirer(test.redis, settings).then(
      () => '',
      (error: unknown) => String(error)
    )
  }

  it('is recorded by the first process, without the account itself, and every process with the same acquirer starts', async () => {
    for (let starts = 0; starts < 2; starts++) expect(await refusalOf(ACQUIRER)).to.equal('')
    expect(await test.redis.get(keys.acquirer())).to.not.contain('account-1')
  })

  for (const [setting, value, names] of [
    ['networkMerchantId', 'account-2', /NETWORK_MERCHANT_ID is another account/],
    ['networkTransactionUrl', 'https://sandbox.example', /NETWORK_TRANSACTION_URL was https:\/\/api\.example/],
    ['networkQueryUrl', 'https://sandbox.example', /NETWORK_QUERY_URL was https:\/\/query\.example/]
  ] as const) {
    it(`refuses the start of a process with another ${setting}`, async () => {
      await requireOwnAcquirer(test.redis, ACQUIRER)
      expect(await refusalOf({ ...ACQUIRER, [setting]: value })).to.match(names)
    })
  }

  it('may have another address in the test environment, and no other account', async () => {
    await requireOwnAcquirer(test.redis, { ...ACQUIRER, environment: 'test' })
    const moved = { ...ACQUIRER, environment: 'test', networkTransactionUrl: 'http://127.0.0.1:1' } as const
    expect(await refusalOf(moved)).to.equal('')
    expect(await refusalOf({ ...moved, networkMerchantId: 'account-2' })).to.match(/another account/)
  })

  it('can be changed by an operator; a running process with the old one then writes nothing', async () => {
    const old = await requireOwnAcquirer(test.redis, ACQUIRER)
    expect(await forgetAcquirer(test.redis)).to.equal(true)
    expect(await old()).to.equal(undefined)
    expect(await refusalOf({ ...ACQUIRER, networkMerchantId: 'account-2' })).to.equal('')
    expect(await old()).to.match(/another account/)
    await test.redis.del(keys.acquirer())
    expect(await forgetAcquirer(test.redis)).to.equal(false)
  })
})
