/** What becomes of a stored value that no version can have written: it stops no one, hides nothing, and is never guessed at. */
import { expect } from 'chai'
import fc from 'fast-check'
import { requireOwnKeys } from '../../redis/installation/key-record.js'
import { keys, newPaymentId, paymentIdOfKey, paymentKeyOf } from '../../redis/keys.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { createRateLimiter } from '../../redis/merchants/rate-limit.js'
import { type ChangeAttempt, listChanges, recordAttempt, recordOutcome } from '../../redis/operator/audit-trail.js'
import { recordNewKey } from '../../redis/operator/key-rotation.js'
import { listInDoubt, listReviews } from '../../redis/operator/review.js'
import { createKnownSaleStore, KNOWN_SALE_FRESH_MS } from '../../redis/reconciliation/known-sale.js'
import { createReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import { parseJson } from '../../runtime/json.js'
import { createLogger } from '../../runtime/log.js'
import { ConditionsUnderTest } from '../support/conditions-of.js'
import { useRedis } from '../support/redis.js'

const PARTITIONS = 2
const PAYMENT_KEY = '01ivpq46pcfnnolf014d2mf803'
const NUM_RUNS = { numRuns: 60 }

/** What an editor, a broken disk or another program leaves: texts, and what looks like the true form. */
const damage = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.constantFrom(
    '',
    ' ',
    '1',
    '1 2',
    '1 2 3 4',
    '1.1.1 2 3',
    '- - -',
    'nan nan nan',
    '-inf -inf inf',
    'inf inf -inf',
    'nan -inf',
    '[1]',
    '[1,',
    '[1,null]',
    '[1,1.1.1,2,3]',
    '[1,1.1.1,3]',
    '[1,nan,nan,nan]',
    '[1,-1,-1,9]',
    '[1,9,9,99999999999999999999]',
    '[1,[1]]',
    '[1,"k1"]',
    '[1,["k1",7]]',
    '{}'
  )
)
/** An object in JSON is a value that could have been written. */
const damagedOptions = damage.filter(text => !/^\s*\{/.test(text))

/** A list that begins with another number is a value of another version: it is left to that one. */
const damagedList = damage.filter(text => !/^\s*\[\s*(?!1\s*[,\]])-?\d/.test(text))

/** No record of keys that a rotation can have written. */
const damagedKeys = damage.filter(text => {
  const list: unknown = parseJson(text)
  return !(
    Array.isArray(list) &&
    list[0] === 1 &&
    Array.isArray(list[1]) &&
    list[1].every(id => typeof id === 'string')
  )
})

describe('a damaged value', () => {
  const test = useRedis()
  beforeEach(() => test.redis.flushdb())

  it('in the pace of reconciliations is a full pace, and is replaced', async () => {
    const pace = createReconcilePace(test.redis, 8)
    const property = fc.asyncProperty(damage, async text => {
      await test.redis.set(keys.reconcilePace(), text)
      await pace.noteAnswer()
      expect(await pace.take(1)).to.be.within(0, 1)
      expect(await test.redis.get(keys.reconcilePace())).to.match(/^\[1,\d+\.\d{6},\d+\.\d{6},\d{13}\]$/)
    })
    await fc.assert(property, NUM_RUNS)
    await test.redis.set(keys.reconcilePace(), 'damaged')
    expect(await pace.take(9)).to.equal(2)
  })

  it('in the bucket of a key is a full bucket, and is replaced', async () => {
    const limiter = createRateLimiter(test.secrets, { perSecond: 0.001, burst: 2 }, createLogger('test', 'silent'))
    const property = fc.asyncProperty(damage, async text => {
      await test.secrets.set(keys.rateLimit('k'), text)
      expect((await limiter?.take('k'))?.isAllowed).to.be.a('boolean')
      expect(await test.secrets.pttl(keys.rateLimit('k'))).to.be.above(0)
    })
    await fc.assert(property, NUM_RUNS)
  })

  it('in the place of the known sale proves no absence, and the next sale replaces it with a later age of the account', async () => {
    const store = createKnownSaleStore(test.redis)
    const property = fc.asyncProperty(damagedList, async text => {
      await test.redis.set(keys.knownSale(), text)
      expect(await store.read()).to.equal(null)
      await store.remember({ account: 'a', orderId: 'o' }, 1_000)
      expect(await store.read()).to.deep.equal({
        ...{ account: 'a', orderId: 'o', accountSinceMs: 1_000, notedAtMs: 1_000 },
        voidedShown: 'never'
      })
      await store.remember({ account: 'a', orderId: 'p' }, 2_000 + KNOWN_SALE_FRESH_MS)
      expect(await store.read()).to.include({ orderId: 'p', accountSinceMs: 1_000 })
    })
    await fc.assert(property, NUM_RUNS)
  })

  for (const kind of ['vault', 'webhook'] as const) {
    it(`in the record of the ${kind} keys refuses the start with a sentence, and is left for an operator`, async () => {
      const file = { keyIds: () => ({ current: 'k1', all: ['k1'] }), keyProblem: () => undefined }
      const property = fc.asyncProperty(damagedKeys, async text => {
        await test.redis.set(keys.keyRecord(kind), text)
        const { onReadyCheck, onWarning } = new ConditionsUnderTest()
        const start = requireOwnKeys(test.redis, kind, file, { onReadyCheck, onWarning, onFact: () => undefined })
        expect(await start.then(() => '', String)).to.match(/_keys in the data of REDIS_URL is damaged|has format/)
        expect(await recordNewKey(test.redis, kind, 'k2').then(() => '', String)).not.to.equal('')
        expect(await test.redis.get(keys.keyRecord(kind))).to.equal(Buffer.from(text).toString())
      })
      await fc.assert(property, NUM_RUNS)
    })
  }

  it('in the permissions of a key grants nothing, and the key is listed and can be revoked', async () => {
    const store = new MerchantStore(test.redis, 'test')
    const { merchantId } = await store.createMerchant('Shop')
    const { keyId } = await store.createKey({ merchantId, permissions: ['payments:read'] })
    const property = fc.asyncProperty(fc.oneof(damage, fc.constant('payments:read,payments:write')), async text => {
      await test.redis.hset(keys.apiKey(keyId), 'permissions', text, 'revoked', '0')
      expect((await store.findKey(keyId, 0))?.permissions).to.deep.equal([])
      expect(await store.listKeys()).to.have.length(1)
      expect((await store.revokeKey(keyId)).isRevoked).to.equal(true)
    })
    await fc.assert(property, NUM_RUNS)
  })

  it('in the audit trail hides neither its change nor the others; any text is read as it was written', async () => {
    const anyText = fc.string({ unit: 'binary' }).map(text => Buffer.from(text).toString())
    const property = fc.asyncProperty(anyText, damagedOptions, async (text, options) => {
      await test.redis.flushdb()
      const attempt: ChangeAttempt = { actor: text, verb: text, target: text, options: { [text]: text }, reason: text }
      const auditId = await recordAttempt(test.redis, attempt)
      await test.redis.xadd(keys.operatorAudit(), '*', 'actor', 'a', 'verb', 'v', 'options', options)
      await test.redis.xadd(keys.operatorAudit(), '*', 'of', '0-1', 'outcome', options)
      await test.redis.xadd(keys.operatorAudit(), '*', options, options)
      await recordOutcome(test.redis, auditId, { outcome: 'done', detail: text })
      const changes = await listChanges(test.redis, { sinceMs: 0, target: null })
      expect(changes[0]).to.deep.include({ ...attempt, outcome: { outcome: 'done', detail: text } })
      expect(changes[1]).to.deep.include({ actor: 'a', options: { damaged: Buffer.from(options).toString() } })
    })
    await fc.assert(property, NUM_RUNS)
  })

  it('in the list of manual review or of doubts is shown as it is, beside the others', async () => {
    const property = fc.asyncProperty(damage, damage, async (paymentKey, reason) => {
      await test.redis.flushdb()
      await test.redis.hset(keys.review(1), { [PAYMENT_KEY]: 'poisoned', [paymentKey]: reason })
      await test.redis.zadd(keys.inDoubt(1), 1, PAYMENT_KEY, 3, paymentKey)
      await test.redis.zadd(keys.inDoubt(0), 2, paymentKeyOf(newPaymentId(0, 1)))
      const listed = await listReviews(test.redis, PARTITIONS)
      expect(listed).to.have.length(2)
      expect(listed).to.deep.include({ paymentId: paymentIdOfKey(PAYMENT_KEY), reason: 'poisoned' })
      expect(listed.map(one => one.reason)).to.include(Buffer.from(reason).toString())
      const inDoubt = await listInDoubt(test.redis, PARTITIONS, { untilMs: 9, limit: 9 })
      expect(inDoubt.count).to.equal(3)
      expect(inDoubt.payments[0]).to.deep.equal({ paymentId: paymentIdOfKey(PAYMENT_KEY), sinceMs: 1 })
      expect(inDoubt.payments.map(({ sinceMs }) => sinceMs)).to.deep.equal([1, 2, 3])
    })
    await fc.assert(property, NUM_RUNS)
  })
})
