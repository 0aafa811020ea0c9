import { expect } from 'chai'
import { WrittenByNewer } from '../../../machines/written-by-newer.js'
import { decodeEntry } from '../../../redis/commands/command-entry.js'
import { decodeReply, encodeReply } from '../../../redis/commands/replies.js'
import { decodeIdempotency } from '../../../redis/payments/idempotency.js'
import { decodePayment, encodePayment } from '../../../redis/payments/payment-record.js'
import { loadLua } from '../../../redis/scripts.js'
import { decodeChange, decodeQueued, encodeChange } from '../../../redis/webhooks/webhook-event.js'
import { anEntry } from '../../support/payments.js'
import { STORED_ID, samples } from '../../support/stored/payments.js'

/**
 * What installations have on their disks, to the byte. A change that breaks one of these can't be deployed: payments
 * would be lost. Add samples of a new form; change none.
 */
const COMPACT = '01ivpq46pcfnnolf014d2mf803'
const RECORDS = {
  pending:
    '1 m_0000000001 [["order-1",1990,1767355200000,["visa","0060"],["Ada Lovelace","ada@example.com"]],["pending",[0,0,1990,"AAAAAAAAAAAAAAAAAAAAAA"]],[]]',
  refunding:
    '7 m_0000000001 [["order-1",1990,1767355200000,["elo","4321","card_1"],["Ada Lovelace","ada@example.com"],"manual",12,432000000,"LOJA *1",{"table":4,"vip":true,"note":null,"name":"ü"}],["refunding",[3,3,50,"r"],900,["11111111-2222-4333-8444-555555555555","0101",0,"654321"],1767355200002,1767355200003,"reconciling",[1,2,3],1767355200001,"05","provider_rejected",100,1767355200005,0,1767355200004,[4,5,6],"figures_differ"],[[1,"APPROVED","pre_authorized"],[2,"NO_ANSWER","refunding","reconciling","timeout",9]]]',
  refundFailed:
    '8 m_0000000001 [["order-1",1990,1767355200000,["visa","0060"],["Ada Lovelace","ada@example.com"]],["partially_refunded",[3,2,50,"r 1"],900,0,0,0,0,0,0,0,"provider_rejected",50,0,[[50,1,"q 1",1,2],[50,2,"r 1",3,4,"provider_rejected"],[70,1,0,0,5]]],[]]'
} as const

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('records that are stored somewhere', () => {
  for (const name of ['pending', 'refunding', 'refundFailed'] as const) {
    it(`a payment that is ${name} reads as ever, and is written as ever`, () => {
      expect(decodePayment(RECORDS[name], COMPACT)).to.deep.equal(samples[name])
      expect(encodePayment(samples[name])).to.equal(RECORDS[name])
    })
  }

  it('a field that a newer version has added is passed over', () => {
    const newer = RECORDS.pending.replace('],["pending",', ',0,0,0,0,0,0,true],["pending",').replace(/\]$/, ',[2]]')
    expect(decodePayment(newer, COMPACT)).to.deep.equal(samples.pending)
  })

  it('a record that lacks what this version needs is refused as that of another one, not misread', () => {
    const newer = RECORDS.pending.replace('[["order-1",', '[[0,')
    expect(() => decodePayment(newer, COMPACT)).to.throw(WrittenByNewer, 'lacks externalReference')
    expect(() => decodePayment('1 m_1 {"z":2}', COMPACT)).to.throw(WrittenByNewer)
  })

  it('a command reads as ever, and fields that a newer version has added are passed over', () => {
    const fields = [
      'p',
      COMPACT,
      'c',
      '{"kind":"capture","amountCents":900}',
      'k',
      'rec',
      'y',
      'key',
      'r',
      'reply:a',
      'i',
      'c1'
    ]
    expect(
      decodeEntry(3, '1-2', [...fields, 't', TRACEPARENT, 'n', '1', 's', '1 m {}', 'd', '77', 'new', 'field'])
    ).to.deep.equal({
      entryId: '1-2',
      partition: 3,
      paymentKey: COMPACT,
      command: { kind: 'capture', amountCents: 900 },
      idempotencyKey: 'key',
      record: 'rec',
      replyTo: { channel: 'reply:a', commandId: 'c1' },
      correlationId: null,
      traceparent: TRACEPARENT,
      deliveryCount: 1,
      accepted: '1 m {}',
      dueAtMs: 77
    })
  })

  it('a conclusion of an operator reads as ever', () => {
    const fields = ['p', COMPACT, 'c', '{"kind":"conclude_operation","isBooked":true}']
    expect(decodeEntry(5, '1-0', fields).command).to.deep.equal({ kind: 'conclude_operation', isBooked: true })
  })

  it('an Idempotency-Key reads as ever, in progress and with each kind of result', () => {
    const memory = { fingerprint: 'fp', paymentKey: COMPACT, kind: 'create', result: null }
    expect(decodeIdempotency(`P fp ${COMPACT} create`)).to.deep.equal(memory)
    const results = {
      '{"f":"card_declined"}': { kind: 'failed', code: 'card_declined' },
      '{"r":"invalid_state"}': { kind: 'refused', code: 'invalid_state' }
    }
    for (const [text, result] of Object.entries(results)) {
      expect(decodeIdempotency(`D fp ${COMPACT} create ${text}`)).to.deep.equal({ ...memory, result })
    }
    const [, progress] = JSON.parse(RECORDS.refunding.slice('7 m_0000000001 '.length)) as unknown[]
    expect(decodeIdempotency(`D fp ${COMPACT} create {"p":${JSON.stringify(progress)}}`)).to.deep.equal({
      ...memory,
      result: { kind: 'succeeded', progress: samples.refunding.progress }
    })
  })

  it('a webhook event reads as ever, one that waits and one that was delivered', () => {
    expect(
      decodeQueued(`1767355200500 [1990,"order\\u00201"] ${COMPACT} 7 refunding 900 100 1767355200123 30 50 r 1`, 2, 9)
    ).to.deep.include({
      terms: { amountCents: 1_990, externalReference: 'order 1' },
      delivery: { state: 'waiting', attempts: 2, sinceMs: 1_767_355_200_500, nextAtMs: 9 }
    })
    const change = {
      paymentId: STORED_ID,
      version: 7,
      status: 'refunding',
      capturedCents: 900,
      refundedCents: 100,
      operation: { kind: 'refund', state: 'in_progress', amountCents: 50, idempotencyKey: 'r 1' },
      refunds: [],
      error: null,
      occurredAtMs: 1_767_355_200_123
    } as const
    expect(decodeChange(`${COMPACT} 7 refunding 900 100 1767355200123 30 50 r 1`)).to.deep.equal(change)
    const { refunds } = samples.refundFailed.progress
    const failed = `${COMPACT} 7 refunding 900 100 1767355200123 32provider_rejected 50[[50,1,"q\\u00201",1,2],[50,2,"r\\u00201",3,4,"provider_rejected"],[70,1,0,0,5]] r 1`
    const more = { operation: { ...change.operation, state: 'failed' }, refunds, error: 'provider_rejected' } as const
    expect(decodeChange(failed)).to.deep.equal({ ...change, ...more })
    expect(encodeChange({ ...change, ...more })).to.equal(failed)
  })

  it('the Lua scripts know the same heads', () => {
    expect(RECORDS.pending).to.match(/^(\d+) (\S+) /)
    expect(loadLua('commit')).to.contain("string.match(head, '^(%d+) ')")
  })
})

describe('replies between two versions', () => {
  const replyTo = { channel: 'reply:a', commandId: 'c1' }
  const entry = anEntry(samples.pending, { replyTo })
  const times = { queueMs: 1.04, lockMs: 0.26, networkMs: 1_502, workMs: 1_510.55 }

  it('carry the times of the worker beside a result and beside a progress', () => {
    const ended = decodeReply(encodeReply(entry, { kind: 'failed', code: 'card_declined' }, null, times))
    expect(ended).to.deep.equal({
      commandId: 'c1',
      reply: {
        kind: 'ended',
        result: { kind: 'failed', code: 'card_declined' },
        times: { queueMs: 1, lockMs: 0.3, networkMs: 1_502, workMs: 1_510.6 }
      }
    })
    const { progress } = samples.refunding
    expect(decodeReply(encodeReply(entry, null, progress, times))?.reply).to.deep.include({ kind: 'open', progress })
  })

  it('may carry none, as those of an older worker', () => {
    const reply = decodeReply('c1 D null {"r":"invalid_state"}')?.reply
    expect(reply).to.deep.equal({ kind: 'ended', result: { kind: 'refused', code: 'invalid_state' }, times: null })
  })

  it('count as lost when they are not readable', () => {
    for (const text of ['', 'c1', 'c1 D null {', 'c1 X null {}', 'c1 O null ["captured"]', 'c1 D null {}'])
      expect(decodeReply(text)).to.equal(null)
  })
})
