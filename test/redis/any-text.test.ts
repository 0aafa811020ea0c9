/**
 * Texts of merchants, networks and receivers have any character. Each kind of stored value is written and read with such
 * texts, through the scripts that move it, on a real Redis.
 */
import { expect } from 'chai'
import fc from 'fast-check'
import type { Payment } from '../../machines/model.js'
import { statusChangeOf } from '../../machines/status-change.js'
import type { Attempt, Conclusion } from '../../machines/webhook-delivery.js'
import { deadLetterCommand } from '../../redis/commands/command-queue.js'
import { listDeadLetters, replayDeadLetter } from '../../redis/commands/dead-letters.js'
import { ensureGroups, readCommands } from '../../redis/commands/read-commands.js'
import { decodeReply, encodeReply } from '../../redis/commands/replies.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import type { Redis } from '../../redis/connection/connections.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { keys } from '../../redis/keys.js'
import { createNotificationStore } from '../../redis/notifications/notifications.js'
import { createCommitStore } from '../../redis/payments/commits.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import { createKnownSaleStore } from '../../redis/reconciliation/known-sale.js'
import { required, storedList, storedValue } from '../../redis/stored-fields.js'
import { createWebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import { fireLines } from '../../redis/webhooks/webhook-lines.js'
import { createWebhookQueue, deliveryWork } from '../../redis/webhooks/webhook-queue.js'
import {
  anAcceptance,
  aPayment,
  CREATED_MS,
  createCommand,
  everyText,
  MERCHANT,
  recordIdOf
} from '../support/payments.js'
import { useRedis } from '../support/redis.js'
import { eventLogOf, plainQueue } from '../support/webhooks.js'

const PARTITIONS = 1
const PARTITION = 0
const NUL = String.fromCharCode(0)

/** Any code unit, lone surrogates included, any character of the other planes, and what forms of text are made of. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...' "\\[],:%{}\n\r\t\u0085\u00a0\u2028\u2029\ufeff',
        NUL,
        '%s',
        '],0,',
        '[1,',
        'null',
        'é',
        '😀'
      ),
      fc.nat(0xffff).map(unit => String.fromCharCode(unit)),
      fc.integer({ min: 0xd800, max: 0xdfff }).map(unit => String.fromCharCode(unit)),
      fc.integer({ min: 0x10000, max: 0x10ffff }).map(point => String.fromCodePoint(point))
    ),
    { maxLength: 12 }
  )
  .map(parts => parts.join(''))

/** A payment with one text wherever a merchant, the network or an operator sets one. */
function paymentWith(text: string): Payment {
  const payment = aPayment({
    idempotencyKey: text,
    terms: {
      externalReference: text,
      ...everyText(text),
      customer: { name: text, email: text },
      metadata: { [text]: text, other: text }
    }
  })
  const refund = {
    amountCents: 1,
    state: 'succeeded',
    idempotencyKey: text,
    requestedAtMs: 1,
    concludedAtMs: 2,
    error: null
  } as const
  const references = { saleId: text, tid: text, nsu: text, authorizationCode: text }
  const history = [
    { atMs: 1, event: text, status: 'captured', phase: null, detail: text, times: 1 }
  ] as unknown as Payment['history']
  return {
    ...payment,
    version: 2,
    progress: { ...payment.progress, status: 'captured', refunds: [refund], references, declinedCode: text },
    history
  }
}

/** Accepts a payment, reads its command, and commits its capture, with the event of it. */
async function live(redis: Redis, text: string) {
  const after = paymentWith(text)
  const before = aPayment({ idempotencyKey: text, terms: after.terms })
  const payments = createPaymentStore(unreplicated(redis))
  const replyTo = { channel: `reply:${text}`, commandId: text }
  const address = { ...createCommand.buyer.address, street: text, complement: text }
  const command = { ...createCommand, buyer: { ...createCommand.buyer, name: text, address } }
  const acceptance = anAcceptance({
    partition: PARTITION,
    idempotencyKey: text,
    replyTo,
    correlationId: text,
    traceparent: text
  })
  await payments.acceptPayment(before, command, acceptance)
  const { entries } = await readCommands(redis, paymentWork, 'worker', [PARTITION], 1)
  const [entry] = entries
  if (entry === undefined) throw new Error('There is no command.')
  expect(entry).to.deep.include({ command, idempotencyKey: text, replyTo, correlationId: text, traceparent: text })
  const operationResult = {
    idempotencyKey: text,
    result: { kind: 'succeeded', progress: after.progress }
  } as const
  await createCommitStore(unreplicated(redis)).commit(
    {
      payment: after,
      statusBefore: 'pending',
      wake: { expiryAtMs: null, reconcileAtMs: null },
      operationResult,
      nowMs: CREATED_MS,
      ends: null,
      begins: null,
      traceparent: text
    },
    PARTITION
  )
  return { after, entry, operationResult, payments }
}

describe('stored values with any text', () => {
  const test = useRedis()
  const writes = () => unreplicated(test.redis)

  it('are read as they were written', () => {
    interface Sample {
      readonly first: string
      readonly list: { readonly text: string; readonly count: number }
      readonly metadata: Readonly<Record<string, string>> | null
    }
    const format = storedValue<Sample>('sample', {
      first: [''],
      list: [required, storedList<Sample['list']>({ text: [required], count: [0] })],
      metadata: [null]
    })
    const metadata = fc.option(fc.dictionary(anyText, anyText, { noNullPrototype: true }))
    const property = fc.property(anyText, anyText, fc.nat(), metadata, (first, text, count, data) => {
      const sample: Sample = { first, list: { text, count }, metadata: data }
      const stored = format.encode(sample)
      expect(stored).to.match(/^\[1,/)
      expect(format.decode(stored)).to.deep.equal(sample)
      // Scripts put a stored value into another one as text.
      expect(JSON.stringify(JSON.parse(stored))).to.equal(stored)
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('go through the scripts of payments: record, result, command, reply, dead letter', async () => {
    const property = fc.asyncProperty(anyText, async text => {
      await test.redis.flushdb()
      await ensureGroups(test.redis, PARTITIONS, paymentWork)
      const { after, entry, operationResult, payments } = await live(test.redis, text)
      expect(await payments.load(PARTITION, entry.paymentKey)).to.deep.equal(after)
      const { result } = operationResult
      expect((await payments.readIdempotency(PARTITION, recordIdOf(text)))?.result).to.deep.equal(result)
      expect(decodeReply(encodeReply(entry, result, null))).to.deep.equal({
        commandId: text,
        reply: { kind: 'ended', result, times: null }
      })
      const details = { reason: text, nowMs: 7, wakeAtMs: null, result: null }
      await deadLetterCommand(test.redis, entry, details)
      const [letter] = await listDeadLetters(test.redis, PARTITIONS)
      expect(letter).to.deep.include({ reason: text, deadLetteredAtMs: 7 })
      await replayDeadLetter(test.redis, letter?.letterId ?? '')
      const { entries } = await readCommands(test.redis, paymentWork, 'worker', [PARTITION], 1)
      const { entryId, fields, delivery } = entries[0] ?? {}
      expect(entries).to.deep.equal([{ ...entry, entryId, fields, delivery, deliveryCount: 1, newRecord: null }])
    })
    await fc.assert(property, { numRuns: 60 })
  })

  it('go through the scripts of webhooks: endpoint, event, attempt, short form', async () => {
    const nowMs = CREATED_MS + 60_000
    const queue = createWebhookQueue(test.redis, { ...plainQueue, now: () => nowMs })
    const property = fc.asyncProperty(anyText, async text => {
      await test.redis.flushdb()
      await ensureGroups(test.redis, PARTITIONS, paymentWork)
      await ensureGroups(test.redis, PARTITIONS, deliveryWork)
      const endpoints = createWebhookEndpointStore(writes(), PARTITIONS)
      const registered = { merchantId: MERCHANT, url: text, isRotation: true, keyId: text, nowMs }
      await endpoints.register(registered)
      const endpoint = await endpoints.register(registered)
      expect(await endpoints.find(MERCHANT)).to.deep.equal(endpoint)

      const { after } = await live(test.redis, text)
      const change = statusChangeOf(after, CREATED_MS)
      const conclude = async (
        conclusion: Omit<Conclusion, 'failing'>,
        attempt: Attempt | null = null
      ): Promise<void> => {
        const { entries } = await readCommands(test.redis, deliveryWork, 'worker', [PARTITION], 1)
        const [entry] = entries
        const first = entry === undefined ? null : await queue.first(entry)
        if (entry === undefined || first?.kind !== 'readable') throw new Error('There is no event.')
        expect(first).to.deep.include({ endpoint })
        expect(first.event).to.deep.include({ change, traceparent: text })
        expect(first.event.terms).to.include({ externalReference: text, amountCents: after.terms.amountCents })
        await queue.conclude(entry, first, { decide: failing => ({ ...conclusion, failing }), attempt, room: 1 })
      }
      const eventLog = eventLogOf(test.redis, PARTITIONS)
      const listed = async (state: 'waiting' | 'undeliverable' | 'delivered') => {
        const events = []
        const all = state === 'waiting' ? eventLog.waiting(MERCHANT) : eventLog[state](MERCHANT, 0)
        for await (const event of all) events.push(event)
        return events
      }
      const attempt = { atMs: 1, status: null, durationMs: 2, note: text }
      await conclude({ event: 'waits', dueMs: nowMs, lineDueMs: nowMs }, attempt)
      expect((await listed('waiting')).map(({ attempts }) => attempts)).to.deep.equal([[attempt]])
      expect((await listed('waiting')).map(event => event.change)).to.deep.equal([change])
      expect(await fireLines(test.redis, PARTITION, nowMs)).to.equal(1)
      await conclude({ event: 'undeliverable' })
      const [given] = await listed('undeliverable')
      expect(given).to.deep.include({ change, attempts: [attempt] })
      if (given !== undefined) expect(await eventLog.replay(given)).to.include({ sent: 1 })
      expect(await listed('undeliverable')).to.deep.equal([])
      const { entries } = await readCommands(test.redis, deliveryWork, 'worker', [PARTITION], 1)
      const replayed = entries[0] === undefined ? null : await queue.first(entries[0])
      if (entries[0] === undefined || replayed === null) throw new Error('There is no event.')
      const decide = (): Conclusion => ({ event: 'delivered', failing: null })
      await queue.conclude(entries[0], replayed, { decide, attempt: null, room: 1 })
      expect((await listed('delivered')).map(event => event.change)).to.deep.equal([change])
    })
    await fc.assert(property, { numRuns: 60 })
  })

  it('go through what is about the network: notification, known sale', async () => {
    const property = fc.asyncProperty(anyText, async text => {
      await test.redis.flushdb()
      const notifications = createNotificationStore(writes(), PARTITIONS)
      for (const reported of ['change', 'chargeback'] as const) {
        await notifications.note({ saleId: text, reported }, 1)
        expect(await notifications.take(1, 9, 10)).to.deep.equal([{ saleId: text, reported, sinceMs: 1 }])
        await notifications.drop({ saleId: text, reported }, 9)
        expect(await notifications.count()).to.equal(0)
      }
      await createKnownSaleStore(test.redis).remember({ account: text, orderId: text }, 5)
      const known = { account: text, orderId: text, accountSinceMs: 0, notedAtMs: 5, voidedShown: 'never' }
      expect(await createKnownSaleStore(test.redis).read()).to.deep.equal(known)
      expect(await test.redis.get(keys.knownSale())).to.match(/^\[1,/)
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
