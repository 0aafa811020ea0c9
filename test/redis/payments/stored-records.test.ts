import { expect } from 'chai'
import type { Command } from '../../../machines/commands.js'
import { WrittenByOtherVersion } from '../../../machines/written-by-other-version.js'
import { decodeEntry } from '../../../redis/commands/command-entry.js'
import { decodeReply, encodeReply } from '../../../redis/commands/replies.js'
import { storedCommand } from '../../../redis/commands/stored-command.js'
import { decodeIdempotency, encodeIdempotency } from '../../../redis/payments/idempotency.js'
import { decodePayment, encodePayment } from '../../../redis/payments/payment-record.js'
import { loadLua } from '../../../redis/scripts.js'
import { DamagedValue, many, numbered, required, storedList } from '../../../redis/stored-fields.js'
import { decodeConcluded, decodeQueued, encodeChange } from '../../../redis/webhooks/webhook-event.js'
import { anEntry, buyer } from '../../support/payments.js'
import { STORED_ID, samples } from '../../support/stored/payments.js'

/**
 * What installations have on their disks, to the byte. A change that breaks one of these can't be deployed: payments
 * would be lost. Add samples of a new form; change none.
 */
const COMPACT = '01ivpq46pcfnnolf014d2mf803'
const RECORDS = {
  pending:
    '[1,1,"m_0000000001",["order-1",1990,1767355200000,["visa","0060"],["Ada Lovelace","ada@example.com"]],["pending",[0,0,1990,"AAAAAAAAAAAAAAAAAAAAAA"]]]',
  refunding:
    '[1,7,"m_0000000001",["order-1",1990,1767355200000,["elo","4321","card_1"],["Ada Lovelace","ada@example.com"],"manual",12,432000000,"LOJA *1",{"table":4,"vip":true,"note":null,"name":"ü"}],["refunding",[3,3,50,"r"],900,["11111111-2222-4333-8444-555555555555","0101",0,"654321"],1767355200002,1767355200003,"reconciling",[1,2,3],1767355200001,"05","provider_rejected",100,1767355200005,0,1767355200004,[4,5,6],"figures_differ"],[[1,"APPROVED","pre_authorized"],[2,"NO_ANSWER","refunding","reconciling","timeout",9]]]',
  refundFailed:
    '[1,8,"m_0000000001",["order-1",1990,1767355200000,["visa","0060"],["Ada Lovelace","ada@example.com"]],["partially_refunded",[3,2,50,"r 1"],900,0,0,0,0,0,0,0,"provider_rejected",50,0,[[50,1,"q 1",1,2],[50,2,"r 1",3,4,"provider_rejected"],[70,1,0,0,5]]]]'
} as const

const COMMANDS: Readonly<Record<string, Command>> = {
  '[0,0,[0,"tok_1"],["Ada Lovelace","ada@example.com","52998224725","11987654321",["01310100","Avenida Paulista","1000",0,"Bela Vista","Sao Paulo","SP"]],7]':
    { kind: 'create', source: { type: 'token', tokenId: 'tok_1' }, buyer, authoriseByMs: 7 },
  '[1]': { kind: 'capture', amountCents: null },
  '[2,300]': { kind: 'cancel', amountCents: 300 },
  '[3]': { kind: 'wake' },
  '[4,0,0,0,0,"chargeback"]': { kind: 'network_notification', reported: 'chargeback' },
  '[5]': { kind: 'resolve_review' },
  '[6,0,0,0,0,0,1]': { kind: 'conclude_operation', isBooked: true },
  '[6,0,0,0,0,0,2]': { kind: 'conclude_operation', isBooked: false },
  '[7]': { kind: 'erase_buyer' }
}

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

/** Where an entry stands. */
const PLACE = { entryId: '1-2', partition: 3, consumer: 'w', delivery: 'w 1' } as const

describe('records that are stored somewhere', () => {
  for (const name of ['pending', 'refunding', 'refundFailed'] as const) {
    it(`a payment that is ${name} reads as ever, and is written as ever`, () => {
      expect(decodePayment(RECORDS[name], COMPACT)).to.deep.equal(samples[name])
      expect(encodePayment(samples[name])).to.equal(RECORDS[name])
    })
  }

  it('a field that a newer version has added is ignored', () => {
    const newer = RECORDS.pending
      .replace('],["pending",', `${',0'.repeat(20)},true],["pending",`)
      .replace(/\]$/, ',[],[2]]')
    expect(decodePayment(newer, COMPACT)).to.deep.equal(samples.pending)
  })

  it('a record in another format belongs to another version, and is not damaged', () => {
    const other = RECORDS.pending.replace('[1,', '[2,')
    expect(() => decodePayment(other, COMPACT)).to.throw(
      WrittenByOtherVersion,
      'A stored payment has format 2, and this version reads format 1'
    )
  })

  for (const [what, record] of [
    ['lacks what is required', RECORDS.pending.replace('["order-1",', '[0,')],
    ['is cut off', RECORDS.pending.slice(0, -5)],
    ['has no format number', '1 m_0000000001 {"z":2}'],
    ['has an element of another type', '[1,1,"m_0000000001",7,[],[]]'],
    ['is empty', '']
  ] as const) {
    it(`a record that ${what} is damaged, and the error does not quote it`, () => {
      expect(() => decodePayment(record, COMPACT))
        .to.throw(DamagedValue)
        .with.property('message')
        .that.does.not.contain('m_0000000001')
    })
  }

  it('a command is read as before, and fields that a newer version has added are ignored', () => {
    const text = `[1,"${COMPACT}",[1,900],1,"77","key","rec",["reply:a","c1"],0,"${TRACEPARENT}",0,"newer"]`
    const fields = ['s', '[1,1,"m"]', 'e', text, 'new', 'field']
    expect(decodeEntry({ ...PLACE, fields })).to.deep.equal({
      ...PLACE,
      fields,
      paymentKey: COMPACT,
      command: { kind: 'capture', amountCents: 900 },
      idempotencyKey: 'key',
      idempotencyRecordId: 'rec',
      replyTo: { channel: 'reply:a', commandId: 'c1' },
      correlationId: null,
      traceparent: TRACEPARENT,
      deliveryCount: 1,
      newRecord: '[1,1,"m"]',
      dueAtMs: 77
    })
  })

  it('still reads each kind of command, and treats an unknown kind as one of another version', () => {
    for (const [stored, command] of Object.entries(COMMANDS)) {
      expect(decodeEntry({ ...PLACE, fields: ['e', `[1,"${COMPACT}",${stored}]`] }).command).to.deep.equal(command)
      expect(JSON.stringify(storedCommand.encode(command))).to.equal(stored)
    }
    expect(() => decodeEntry({ ...PLACE, fields: ['e', `[1,"${COMPACT}",[99,7]]`] })).to.throw(WrittenByOtherVersion)
    expect(() => decodeEntry({ ...PLACE, fields: ['e', `[1,"${COMPACT}",[]]`] })).to.throw(DamagedValue)
    for (const named of ['"***"', '7', `"${COMPACT} "`, '""', '[1]'])
      expect(() => decodeEntry({ ...PLACE, fields: ['e', `[1,${named},[1]]`] }), named).to.throw(DamagedValue)
  })

  it('an Idempotency-Key is read as before, in progress and with each kind of result', () => {
    const memory = { fingerprint: 'fp', paymentKey: COMPACT, kind: 'create', result: null }
    expect(decodeIdempotency(`[1,0,"fp","${COMPACT}"]`)).to.deep.equal(memory)
    expect(decodeIdempotency(`[1,0,"fp","${COMPACT}",2]`)).to.deep.equal({ ...memory, kind: 'cancel' })
    const results = {
      '[1,"card_declined"]': { kind: 'failed', code: 'card_declined' },
      '[2,"invalid_state"]': { kind: 'refused', code: 'invalid_state' }
    }
    for (const [text, result] of Object.entries(results)) {
      expect(decodeIdempotency(`[1,${text},"fp","${COMPACT}"]`)).to.deep.equal({ ...memory, result })
    }
    const [, , , , progress] = JSON.parse(RECORDS.refunding) as unknown[]
    expect(decodeIdempotency(`[1,[0,0,${JSON.stringify(progress)}],"fp","${COMPACT}"]`)).to.deep.equal({
      ...memory,
      result: { kind: 'succeeded', progress: samples.refunding.progress }
    })
  })

  it('still reads waiting and delivered webhook events', () => {
    const plain = `[1,"${COMPACT}",7,"refunding",900,100,1767355200123,[3,0,50,"r 1"]]`
    const change = {
      paymentId: STORED_ID,
      version: 7,
      status: 'refunding',
      authorizedCents: null,
      capturedCents: 900,
      refundedCents: 100,
      operation: { kind: 'refund', state: 'in_progress', amountCents: 50, idempotencyKey: 'r 1' },
      refunds: [],
      error: null,
      rejectionCode: null,
      occurredAtMs: 1_767_355_200_123
    } as const
    const decodeChange = (short: string) => decodeConcluded(`[1,${short}]`).change
    expect(decodeConcluded(`[1,${plain},[[5,204,7]]]`)).to.deep.equal({
      change,
      attempts: [{ atMs: 5, status: 204, durationMs: 7, note: '' }]
    })
    expect(decodeChange(plain)).to.deep.equal(change)
    const { terms, ...queued } = decodeQueued(`[1,1767355200500,[1990,"order 1"],${plain},[[5,503,7,"no"]]]`)
    expect(terms).to.include({ amountCents: 1_990, externalReference: 'order 1' })
    expect(queued).to.deep.include({
      change,
      traceparent: null,
      attempts: [{ atMs: 5, status: 503, durationMs: 7, note: 'no' }],
      sinceMs: 1_767_355_200_500
    })
    const { refunds } = samples.refundFailed.progress
    const failed = `[1,"${COMPACT}",7,"refunding",900,100,1767355200123,[3,2,50,"r 1"],"provider_rejected",[[50,1,"q 1",1,2],[50,2,"r 1",3,4,"provider_rejected"],[70,1,0,0,5]]]`
    const more = { operation: { ...change.operation, state: 'failed' }, refunds, error: 'provider_rejected' } as const
    expect(decodeChange(failed)).to.deep.equal({ ...change, ...more })
    expect(encodeChange({ ...change, ...more })).to.equal(failed)
    expect(decodeChange(failed.replace('"provider_rejected",[[', '"of another version",[[')).error).to.equal(null)
    const rejected = failed.replace(/]]]$/, ']],0,"154"]')
    expect(decodeChange(rejected)).to.deep.equal({ ...change, ...more, rejectionCode: '154' })
    expect(encodeChange(decodeChange(rejected))).to.equal(rejected)
    expect(() => decodeChange(plain.replace('refunding', 'extended'))).to.throw(WrittenByOtherVersion)
    for (const damaged of ['', '[1]', plain.replace(COMPACT, '***'), plain.replace('1767355200123', '0')])
      expect(() => decodeChange(damaged), damaged).to.throw(DamagedValue)
  })

  it('the Lua scripts know the same heads', () => {
    expect(RECORDS.pending).to.match(/^\[\d+,(\d+),/)
    expect(loadLua('version_of')).to.contain("string.match(redis.call('GETRANGE', payment, 0, 23), '^%[%d+,(%d+),')")
    const open = { fingerprint: '', paymentKey: '', kind: 'create', result: null } as const
    expect(encodeIdempotency(open)).to.match(/^\[1,0,/)
    expect(loadLua('finish')).to.contain("string.sub(record, 1, 5) == '[1,0,'")
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

  it('may carry no times, like those of an older worker', () => {
    const reply = decodeReply('[1,"c1",0,[2,"invalid_state"]]')?.reply
    expect(reply).to.deep.equal({ kind: 'ended', result: { kind: 'refused', code: 'invalid_state' }, times: null })
  })

  it('count as lost when they are not readable', () => {
    for (const text of [
      '',
      '[1]',
      '[1,"c1"]',
      '[1,"c1",0,[7]]',
      '[1,"c1",0,[2]]',
      '[1,"c1",0,0,["captured"]]',
      '[2,"c1"]'
    ])
      expect(decodeReply(text)).to.equal(null)
  })
})

interface Sample {
  readonly name: string
  readonly count: number
  readonly atMs: number | null
  readonly colour: 'red' | 'green'
  readonly parts: readonly { readonly size: number }[]
}

const format = storedList<Sample>({
  name: [required],
  count: [1],
  atMs: [null],
  colour: ['green', numbered(['red', 'green'])],
  parts: [[], many(storedList<{ readonly size: number }>({ size: [0] }))]
})

const sample: Sample = { name: 'a', count: 1, atMs: null, colour: 'green', parts: [] }

describe('a stored list', () => {
  for (const [what, changes, stored] of [
    ['leaves out the defaults at its end', {}, ['a']],
    ['keeps the place of a default between others', { colour: 'red' }, ['a', 0, 0, false]],
    ['keeps a 0 that is not the default', { count: 0, atMs: 0 }, ['a', false, false]],
    ['keeps each part, also one of defaults only', { parts: [{ size: 0 }, { size: 3 }] }, ['a', 0, 0, 0, [[], [3]]]]
  ] as const) {
    it(what, () => {
      const value: Sample = { ...sample, ...changes }
      expect(format.encode(value)).to.deep.equal(stored)
      expect(format.decode(JSON.parse(JSON.stringify(stored)))).to.deep.equal(value)
    })
  }

  it('ignores rows of a newer version, and refuses a record without a required field', () => {
    expect(format.decode(['a', 0, 0, 0, 0, 'newer'])).to.deep.equal(sample)
    expect(() => format.decode([0, 2])).to.throw(DamagedValue, 'lacks name')
    expect(() => format.decode(['a', 0, 0, 7])).to.throw(WrittenByOtherVersion, 'word 7')
  })

  it('sends the times of a command that met no network: they round to 0', () => {
    const times = { queueMs: 0.01, lockMs: 0.04, networkMs: 0.003, workMs: 12.34 }
    const replyTo = { channel: 'c', commandId: 'id' }
    const message = encodeReply({ replyTo }, { kind: 'failed', code: 'network_unavailable' }, null, times)
    expect(decodeReply(message)?.reply.times).to.deep.equal({ queueMs: 0, lockMs: 0, networkMs: 0, workMs: 12.3 })
  })
})
