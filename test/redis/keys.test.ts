import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import {
  createdAtMs,
  keys,
  newPaymentId,
  partitionOf,
  partitionOfPayment,
  paymentIdOfKey,
  paymentKeyOf
} from '../../redis/keys.js'

const PAYMENT_ID = '019a0000-0000-7000-8000-000000000005'

/** Every key and channel, as docs/DESIGN.md writes it. The compiler asks for those that are missing here. */
const written: Readonly<Record<keyof typeof keys, string>> = {
  fence: keys.fence('{...}'),
  installation: keys.installation(),
  merchant: keys.merchant('<id>'),
  merchants: keys.merchants(),
  apiKey: keys.apiKey('<id>'),
  apiKeys: keys.apiKeys(),
  heartbeats: keys.heartbeats(),
  timersHeartbeats: keys.timersHeartbeats(),
  webhookHeartbeats: keys.webhookHeartbeats(),
  replyChannel: keys.replyChannel('<instance>'),
  inspector: keys.inspector(),
  inspectionChannel: keys.inspectionChannel(0).replace(/0$/, '<db>'),
  clockOffset: keys.clockOffset(),
  cardDeclines: keys.cardDeclines(0, '<id>'),
  operatorAudit: keys.operatorAudit(),
  keyRecord: keys.keyRecord('vault'),
  notifications: keys.notifications(),
  notificationsSince: keys.notificationsSince(),
  reconcilePace: keys.reconcilePace(),
  knownSale: keys.knownSale(),
  acquirer: keys.acquirer(),
  payment: keys.payment(0, '<payment key>'),
  idempotency: keys.idempotency(0, '<record id>'),
  commands: keys.commands(0),
  deadLetters: keys.deadLetters(0),
  begun: keys.begun(0),
  commitCounter: keys.commitCounter(0),
  vouch: keys.vouch(0),
  unvouched: keys.unvouched(0),
  due: keys.due(0),
  reconcile: keys.reconcile(0),
  rests: keys.rests(0),
  archived: keys.archived(0),
  archiveCursors: keys.archiveCursors(0),
  review: keys.review(0),
  inDoubt: keys.inDoubt(0),
  sales: keys.sales(0, 'a sale').replace(/[0-9a-f]{4}$/, '<bucket>'),
  byStatus: keys.byStatus(0, '<merchant>', '<status>'),
  byReference: keys.byReference(0, '<merchant>'),
  card: keys.card(0, '<id>'),
  cardOfToken: keys.cardOfToken(0, '<token>'),
  webhookEndpoint: keys.webhookEndpoint(0, '<merchant>'),
  deliveries: keys.deliveries(0),
  webhookEvents: keys.webhookEvents(0, '<payment key>'),
  webhookLine: keys.webhookLine(0, '<m>'),
  webhookLines: keys.webhookLines(0),
  webhookFailing: keys.webhookFailing(0, '<m>'),
  webhookUndeliverable: keys.webhookUndeliverable(0, '<m>'),
  webhookJournal: keys.webhookJournal(0, '<m>'),
  seen: keys.seen(),
  token: keys.token('<id>'),
  cvvToken: keys.cvvToken('<token>'),
  cvv: keys.cvv(PAYMENT_ID).replace(paymentKeyOf(PAYMENT_ID), '<id>'),
  rateLimit: keys.rateLimit('<key>'),
  lock: keys.lock('<id>')
}

describe('keys and channels', () => {
  it('are all listed in docs/DESIGN.md', () => {
    const page = readFileSync('docs/DESIGN.md', 'utf8')
    const missing = Object.values(written).filter(key => !page.includes(`\`${key.replace('{p00}', '{pNN}')}\``))
    expect(missing).to.deep.equal([])
  })
})

describe('payment ids', () => {
  it('name their partition in their last three digits', () => {
    for (const partition of [0, 1, 15, 4095])
      expect(partitionOfPayment(newPaymentId(partition, Date.now()))).to.equal(partition)
  })

  it('are UUIDs that sort by the order in which they were made, also as payment keys', () => {
    const ids = Array.from({ length: 200 }, () => newPaymentId(9, Date.now()))
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect([...ids].sort()).to.deep.equal(ids)
    expect(ids.map(paymentKeyOf).sort()).to.deep.equal(ids.map(paymentKeyOf))
  })

  it('sort by the time that they were given, with any clock of the machine', () => {
    const hours = [3, 1, 2].map(hour => newPaymentId(9, Date.now() + hour * 3_600_000))
    expect([...hours].sort()).to.deep.equal([hours[1], hours[2], hours[0]])
  })

  it('have the time that they were given, also when the clock was set back a little', () => {
    const nowMs = Date.UTC(2026, 0, 2)
    for (const timeMs of [nowMs + 5_000, nowMs]) expect(createdAtMs(newPaymentId(9, timeMs))).to.equal(timeMs)
  })

  it('can be restored from their payment keys', () => {
    for (const id of [
      newPaymentId(5, Date.now()),
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff'
    ]) {
      expect(paymentKeyOf(id)).to.have.lengthOf(26)
      expect(paymentIdOfKey(paymentKeyOf(id))).to.equal(id)
    }
  })

  it('a merchant has the same partition for ever', () => {
    expect(partitionOf('m_0000000001', 16)).to.equal(9)
    expect(partitionOf('m_0000000001', 4096)).to.equal(1129)
    const used = new Set(Array.from({ length: 400 }, (_, i) => partitionOf(`m_${i}`, 16)))
    expect(used.size).to.equal(16)
  })
})
