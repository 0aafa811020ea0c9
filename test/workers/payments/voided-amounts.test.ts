import { expect } from 'chai'
import type { QueryOutcome } from '../../../machines/network.js'
import { createKnownSaleStore } from '../../../redis/reconciliation/known-sale.js'
import { createVoidedReader } from '../../../workers/payments/voided-amounts.js'
import { aSale, CREATED_MS } from '../../support/payments.js'
import { useRedis } from '../../support/redis.js'

const ORDER = '0197f3a21b2c7def8abc01234567a003'

describe('a record that leaves out the voided amount of a captured sale', () => {
  const test = useRedis()
  afterEach(() => test.redis.flushdb())

  const aReader = (account = 'account-1') =>
    createVoidedReader({ knownSales: createKnownSaleStore(test.redis), account, clock: { now: () => CREATED_MS } })
  const read = async (reader: ReturnType<typeof aReader>, voidedCents: number | null): Promise<number | null> => {
    const found = { kind: 'found', sales: [aSale({ status: 'captured', voidedCents })] } as const
    const outcome: QueryOutcome = await reader(ORDER, found)
    if (outcome.kind !== 'found') throw new Error('The sale was lost.')
    return outcome.sales[0].voidedCents
  }

  it('says nothing while the account has never shown one', async () => {
    expect(await read(aReader(), null)).to.equal(null)
  })

  it('means zero once the account has shown one, also to another process', async () => {
    expect(await read(aReader(), 300)).to.equal(300)
    expect(await read(aReader(), null)).to.equal(0)
    expect(await read(aReader('account-2'), null), 'another account').to.equal(null)
  })

  it('says nothing in an account that shows zeros as well', async () => {
    await read(aReader(), 300)
    expect(await read(aReader(), 0)).to.equal(0)
    expect(await read(aReader(), null)).to.equal(null)
  })
})
