import { expect } from 'chai'
import type { Command } from '../../../machines/commands.js'
import type { PaymentStatus } from '../../../machines/model.js'
import { CALL_MAX_MS } from '../../../machines/payment/wake-ups.js'
import { eventOfCommand } from '../../../workers/payments/event-of-command.js'
import { inDoubt, inStatus, KEY, NOW } from '../../support/decisions.js'
import { anEntry, aPayment, CREATED_MS, createCommand, DAY_MS, policy } from '../../support/payments.js'

const capture: Command = { kind: 'capture', amountCents: null }
const wake: Command = { kind: 'wake' }
const DUE = CREATED_MS + 7 * DAY_MS

/**
 * What a command means to a payment in a status; `again`: begun before, in vain; `foreign`: another request's operation is
 * the one that runs; `due`: the time that has come, as a wake-up names it; `at`: the moment; `back`: when the data came back.
 */
const rows: Readonly<
  Record<
    string,
    readonly [
      given: PaymentStatus | ReturnType<typeof inStatus>,
      command: Command,
      circumstances: { again?: true; foreign?: true; due?: number; at?: number; back?: number },
      event: string | null
    ]
  >
> = {
  'a new payment is authorised': ['pending', createCommand, {}, 'AUTHORISE'],
  'redelivered, the mark says whether it may have been sent': ['pending', createCommand, { again: true }, 'AUTHORISE'],
  'redelivered when it is unknown, it is left to its wake-up': ['unknown', createCommand, { again: true }, null],
  'redelivered when it has ended': ['captured', createCommand, { again: true }, null],
  'redelivered in the capture that it went on with': ['capturing', createCommand, { again: true }, 'RESUMED'],
  'a new capture': ['pre_authorized', capture, {}, 'CAPTURE'],
  'a capture redelivered before it was begun': ['pre_authorized', capture, { again: true }, 'CAPTURE'],
  'a capture redelivered in its own capture': ['capturing', capture, { again: true }, 'RESUMED'],
  'a capture redelivered while it is reconciled': [
    inStatus('capturing', inDoubt('capture', 600)),
    capture,
    { again: true },
    null
  ],
  'a capture while another one runs': ['capturing', capture, { foreign: true }, 'CAPTURE'],
  'a new cancellation': ['captured', { kind: 'cancel', amountCents: 1 }, {}, 'CANCEL'],
  'a notification': ['captured', { kind: 'network_notification', reported: 'change' }, {}, 'NETWORK_NOTIFICATION'],
  'a review that an operator has resolved': ['captured', { kind: 'resolve_review' }, {}, 'REVIEW_RESOLVED'],
  'an erasure, which is no event of the chart': ['captured', { kind: 'erase_buyer' }, {}, null],
  'the end of a window': ['pre_authorized', wake, { at: DUE }, 'EXPIRE'],
  'a wake-up that was moved meanwhile': ['pre_authorized', wake, { at: DUE - 1 }, null],
  'a query that is due': ['unknown', wake, {}, 'RECONCILE'],
  'a query redelivered': ['unknown', wake, { again: true }, 'RECONCILE'],
  'a wake-up of a payment that needs none': ['captured', wake, {}, null],
  'a wake-up during a call of another worker': ['capturing', wake, {}, null],
  'a release redelivered': ['expired', wake, { again: true }, 'RESUMED'],
  'a re-send redelivered': ['capturing', wake, { again: true }, 'RESUMED'],
  'a wake-up for nothing never touches a new payment': ['pending', wake, { again: true }, null],
  'a new payment whose time is over': ['pending', wake, { due: CREATED_MS + 900_001 }, 'OVERDUE'],
  'a call that is in flight for too long': ['capturing', wake, { due: CREATED_MS + CALL_MAX_MS }, 'RESUMED'],
  'a call that may still be answered': ['capturing', wake, { due: CREATED_MS + CALL_MAX_MS - 1 }, null],
  'a hold that nothing vouches for': ['pre_authorized', wake, { back: NOW }, 'NETWORK_NOTIFICATION'],
  'a doubt that nothing vouches for': ['unknown', wake, { back: NOW }, 'RECONCILE'],
  'a hold that changed since the data came back': ['pre_authorized', wake, { back: CREATED_MS }, null],
  'a call that may be in flight in data that came back': ['capturing', wake, { back: NOW }, null]
}

describe('what a command means', () => {
  for (const [name, [given, command, { again, foreign, due, at, back }, event]] of Object.entries(rows)) {
    it(`${command.kind}: ${name}: ${event ?? 'nothing is left to do'}`, () => {
      const { mode, progress } = typeof given === 'string' ? inStatus(given) : given
      const payment = aPayment({ terms: { captureMode: mode }, progress })
      const entry = anEntry(payment, {
        command,
        idempotencyKey: command.kind === 'wake' ? null : foreign ? 'another-key' : KEY,
        deliveryCount: again ? 1 : 0,
        dueAtMs: due ?? null
      })
      const known = back === undefined ? policy : { ...policy, unvouchedBeforeMs: back }
      expect(eventOfCommand(payment, entry, Math.max(at ?? NOW, due ?? 0), known)?.type ?? null).to.equal(event)
    })
  }
})
