import { expect } from 'chai'
import { forgetAcquirer, requireOwnAcquirer } from '../../../redis/installation/acquirer-record.js'
import { keys } from '../../../redis/keys.js'
import { useRedis } from '../../support/redis.js'

const LIVE = {
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
    for (let starts = 0; starts < 2; starts++) expect(await refusalOf(LIVE)).to.equal('')
    expect(await test.redis.get(keys.acquirer())).to.not.contain('account-1')
  })

  for (const [setting, value, names] of [
    ['networkMerchantId', 'account-2', /NETWORK_MERCHANT_ID is another account/],
    ['networkTransactionUrl', 'https://sandbox.example', /NETWORK_TRANSACTION_URL was https:\/\/api\.example/],
    ['networkQueryUrl', 'https://sandbox.example', /NETWORK_QUERY_URL was https:\/\/query\.example/]
  ] as const) {
    it(`refuses the start of a process with another ${setting}`, async () => {
      await requireOwnAcquirer(test.redis, LIVE)
      expect(await refusalOf({ ...LIVE, [setting]: value })).to.match(names)
    })
  }

  it('may have another address in the test environment, and no other account', async () => {
    await requireOwnAcquirer(test.redis, { ...LIVE, environment: 'test' })
    const moved = { ...LIVE, environment: 'test', networkTransactionUrl: 'http://127.0.0.1:1' } as const
    expect(await refusalOf(moved)).to.equal('')
    expect(await refusalOf({ ...moved, networkMerchantId: 'account-2' })).to.match(/another account/)
  })

  it('can be changed by an operator; a running process with the old one then writes nothing', async () => {
    const old = await requireOwnAcquirer(test.redis, LIVE)
    expect(await forgetAcquirer(test.redis)).to.equal(true)
    expect(await old()).to.equal(undefined)
    expect(await refusalOf({ ...LIVE, networkMerchantId: 'account-2' })).to.equal('')
    expect(await old()).to.match(/another account/)
    await test.redis.del(keys.acquirer())
    expect(await forgetAcquirer(test.redis)).to.equal(false)
  })
})
