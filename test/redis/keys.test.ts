import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { compactId, keys } from '../../redis/keys.js'

const PAYMENT_ID = '019a0000-0000-7000-8000-000000000005'

/** Every key and channel, as docs/DESIGN.md writes it. The compiler asks for those that are missing here. */
const written: Readonly<Record<keyof typeof keys, string>> = {
  fence: keys.fence('{...}'),
  partitionCount: keys.partitionCount(),
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
  notices: keys.notices(),
  noticesSince: keys.noticesSince(),
  payment: keys.payment(0, '<compact id>'),
  idempotency: keys.idempotency(0, '<record>'),
  commands: keys.commands(0),
  deadLetters: keys.deadLetters(0),
  due: keys.due(0),
  attention: keys.attention(0),
  inDoubt: keys.inDoubt(0),
  sales: keys.sales(0),
  outbox: keys.outbox(0),
  byStatus: keys.byStatus(0, '<merchant>', '<status>'),
  byReference: keys.byReference(0, '<merchant>'),
  card: keys.card(0, '<id>'),
  cardOfToken: keys.cardOfToken(0, '<token>'),
  webhookEndpoint: keys.webhookEndpoint(0, '<merchant>'),
  webhooksOff: keys.webhooksOff(0, '<m>'),
  webhookLease: keys.webhookLease(0),
  webhookMerchants: keys.webhookMerchants(0),
  webhookDue: keys.webhookDue(0, '<m>'),
  webhookWaiting: keys.webhookWaiting(0, '<m>'),
  webhookUndeliverable: keys.webhookUndeliverable(0, '<m>'),
  webhookUndeliverableOld: keys.webhookUndeliverableOld(0, '<m>'),
  webhookJournal: keys.webhookJournal(0, '<m>'),
  webhookAttempts: keys.webhookAttempts(0, '<m>'),
  token: keys.token('<id>'),
  cvv: keys.cvv(PAYMENT_ID).replace(compactId(PAYMENT_ID), '<id>'),
  rateLimit: keys.rateLimit('<key>'),
  paymentLock: keys.paymentLock('<id>')
}

describe('keys and channels', () => {
  it('stand in docs/DESIGN.md, every one of them', () => {
    const page = readFileSync('docs/DESIGN.md', 'utf8')
    const missing = Object.values(written).filter(key => !page.includes(`\`${key.replace('{p00}', '{pNN}')}\``))
    expect(missing).to.deep.equal([])
  })
})
