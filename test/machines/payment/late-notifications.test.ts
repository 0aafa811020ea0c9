/** What the network reports about a payment without a waiting request. */
import { describeRows, type EventInput, found, inDoubt, inStatus, NOW, type Rows } from '../../support/decisions.js'
import { aDoubt, policy } from '../../support/payments.js'

const notification: EventInput = { type: 'NETWORK_NOTIFICATION', reported: 'change' }
const reported = { verification: { sinceMs: NOW - 1_000, attempts: 0, nextAtMs: NOW, reported: 'change' as const } }
const held = { status: 'authorised', capturedCents: 0 } as const
const duplicate = { duplicates: [{ saleId: 'sale-2', isChargedBack: false }] }
const noAnswer: EventInput = { type: 'NO_ANSWER', reason: 'cut' }
/** A notification came a second ago. */
const recent = { phase: 'watched' as const, reconciliation: aDoubt(NOW - 1_000, { tries: 0, attempts: 1 }) }
/** Beyond the horizon: the record can't be behind any more. */
const watched = {
  phase: 'watched' as const,
  reconciliation: aDoubt(NOW - policy.notFoundHorizonMs, { tries: 0, nextAtMs: NOW + 60_000 })
}

const released = { phase: 'released' as const, ...reported }

const rows: Rows = {
  'canceled: queries the network': ['canceled', notification, { status: 'canceled', effect: 'query', wake: 0 }],
  'canceled: stays so when the record shows it voided': [
    inStatus('canceled', reported),
    found('voided'),
    { wake: 5_000, reviewReason: null }
  ],
  'canceled: is listed for manual review when the sale is held again': [
    inStatus('canceled', reported),
    found('authorised', held),
    { status: 'canceled', wake: null, reviewReason: 'figures_differ' }
  ],
  'canceled: is listed for manual review when the sale was captured': [
    inStatus('canceled', reported),
    found('captured'),
    { status: 'canceled', captured: 0, wake: null, reviewReason: 'figures_differ' }
  ],
  'canceled: verifies it later without an answer': [
    inStatus('canceled', reported),
    noAnswer,
    { status: 'canceled', wake: 2_000 }
  ],
  'canceled: queries the network again': [inStatus('canceled', reported), { type: 'RECONCILE' }, { effect: 'query' }],
  'expired: queries the network': [
    inStatus('expired', { phase: 'released' }),
    notification,
    { effect: 'query', wake: 0 }
  ],
  'expired: is listed for manual review when the hold is there again': [
    inStatus('expired', released),
    found('authorised', held),
    { status: 'expired', phase: 'released', wake: null, reviewReason: 'figures_differ' }
  ],
  'expired: is reconciled at once while its hold is released': [
    inStatus('expired', { reconciliation: aDoubt(NOW, { nextAtMs: NOW + 9_000 }) }),
    notification,
    { phase: 'releasing', effect: null, wake: 0 }
  ],
  'failed: queries the network': [
    'failed',
    notification,
    { status: 'failed', phase: 'watched', effect: 'query', wake: 2_000 }
  ],
  'failed: queries again when the record, which may be behind, still says denied': [
    inStatus('failed', recent),
    found('denied'),
    { phase: 'watched', effect: null, wake: 15_000 }
  ],
  'failed: queries again when the record, which may be behind, lacks the sale': [
    inStatus('failed', recent),
    { type: 'ABSENT' },
    { phase: 'watched', effect: null, wake: 15_000 }
  ],
  'failed: voids a sale that turned up in the meantime': [
    inStatus('failed', recent),
    found('captured'),
    { phase: 'watched', effect: 'void', reviewReason: 'sale_after_failure' }
  ],
  'failed: is settled when the sale is still denied after the horizon': [
    inStatus('failed', watched),
    found('denied'),
    { phase: 'settled', wake: null }
  ],
  'failed: voids a sale that exists after all': [
    'failed',
    found('captured'),
    { status: 'failed', effect: 'void', wake: 5_000, reviewReason: 'sale_after_failure' }
  ],
  'failed: voids a second sale beside the denied one': [
    'failed',
    found('denied', {}, duplicate),
    { status: 'failed', phase: 'watched', effect: 'void', wake: 5_000, reviewReason: 'sale_after_failure' }
  ],
  'unknown: voids a second sale beside the denied one': [
    'unknown',
    found('denied', {}, duplicate),
    { status: 'unknown', effect: 'void', reviewReason: 'duplicate_sale', result: null }
  ],
  'unknown: voids a second sale beside the voided one': [
    'unknown',
    found('voided', {}, duplicate),
    { status: 'unknown', effect: 'void', reviewReason: 'duplicate_sale', result: null }
  ],
  'failed: stays settled, and queries later, without an answer': [
    'failed',
    noAnswer,
    { phase: 'settled', wake: 2_000 }
  ],
  'failed: queries again when the network reports something again': [
    inStatus('failed', watched),
    notification,
    { phase: 'watched', effect: 'query' }
  ]
}

describeRows('a notification of the network about a payment that has ended', rows, true)

const surprises: Rows = {
  'captured more than the payment: no more than its amount counts': [
    inStatus('capturing', inDoubt('capture', 600)),
    found('captured', { capturedCents: 1_200 }),
    { status: 'captured', captured: 1_000, reviewReason: 'figures_differ' }
  ],
  'captured another part than was asked for': [
    inStatus('capturing', inDoubt('capture', 600)),
    found('captured', { capturedCents: 500 }),
    { status: 'captured', captured: 500, reviewReason: 'figures_differ' }
  ],
  'captured, and refunded some of it': [
    'unknown',
    found('captured', { voidedCents: 200 }),
    { status: 'captured', captured: 1_000, refunded: 0, reviewReason: 'figures_differ' }
  ],
  'captured what was asked for': [
    inStatus('capturing', inDoubt('capture', 600)),
    found('captured', { capturedCents: 600 }),
    { status: 'captured', captured: 600, reviewReason: null }
  ],
  'refunded more than was asked for': [
    inStatus('refunding', inDoubt('refund', 300)),
    found('captured', { voidedCents: 500 }),
    { status: 'partially_refunded', refunded: 300, reviewReason: 'figures_differ' }
  ],
  'refunded what was asked for': [
    inStatus('refunding', inDoubt('refund', 300)),
    found('captured', { voidedCents: 300 }),
    { status: 'partially_refunded', refunded: 300, reviewReason: null }
  ]
}

describeRows('an acquirer record in which the network', surprises)

const took = (capturedCents: number, more: object = {}): EventInput => found('captured', { capturedCents, ...more })
const nothingToTell = { effect: null, reviewReason: null } as const

/** Each is looked at once more, so that what else the record shows is taken over, too. */
const corrected: Rows = {
  'less than we know of': [
    inStatus('captured', reported),
    took(600),
    { status: 'captured', captured: 600, reviewReason: 'figures_differ', effect: 'query' }
  ],
  'more than we know of, up to the amount of the payment': [
    inStatus('captured', { ...reported, capturedCents: 600 }),
    took(1_000),
    { status: 'captured', captured: 1_000, reviewReason: 'figures_differ', effect: 'query' }
  ],
  'more than the payment: listed for manual review': [
    inStatus('captured', reported),
    took(1_200),
    { status: 'captured', captured: 1_000, reviewReason: 'figures_differ', effect: 'query' }
  ],
  'more than the payment: once, and what was reported is looked for as ever': [
    inStatus('captured', { ...noticedDispute(), reviewReason: 'figures_differ' }),
    took(1_200),
    { status: 'captured', captured: 1_000, effect: null, wake: 5_000 }
  ],
  'just what was refunded': [
    inStatus('partially_refunded', reported),
    took(300, { voidedCents: 300 }),
    { status: 'refunded', captured: 300, refunded: 300, reviewReason: 'figures_differ', effect: 'query' }
  ],
  'half of what we know of, and all of that is refunded': [
    inStatus('partially_refunded', { ...reported, refundedCents: 500 }),
    found('voided', { status: 'voided', capturedCents: 500, voidedCents: 500 }),
    { status: 'refunded', captured: 500, refunded: 500, reviewReason: 'figures_differ' }
  ],
  'less than was refunded: the money must add up': [
    inStatus('partially_refunded', reported),
    took(200, { voidedCents: 300 }),
    { status: 'refunded', captured: 300, refunded: 300, reviewReason: 'figures_differ' }
  ],
  'more than was refunded': [
    inStatus('refunded', { ...reported, capturedCents: 600, refundedCents: 600 }),
    took(1_000, { voidedCents: 600 }),
    { status: 'partially_refunded', captured: 1_000, refunded: 600, reviewReason: 'figures_differ' }
  ],
  'less of a disputed sale': [
    inStatus('charged_back', reported),
    took(600),
    { status: 'charged_back', captured: 600, reviewReason: 'figures_differ', effect: 'query' }
  ],
  'what we know of': [inStatus('captured', reported), took(1_000), { status: 'captured', ...nothingToTell }],
  'what we know of, less what was refunded': [
    inStatus('partially_refunded', reported),
    took(700, { voidedCents: 300 }),
    { status: 'partially_refunded', captured: 1_000, refunded: 300, ...nothingToTell }
  ],
  'nothing, because the sale is voided and they leave it out': [
    inStatus('refunded', reported),
    found('voided', { status: 'voided', capturedCents: 0, voidedCents: 1_000 }),
    { status: 'refunded', captured: 1_000, ...nothingToTell }
  ]
}

function noticedDispute() {
  return { verification: { ...reported.verification, reported: 'chargeback' as const } }
}

describeRows('the acquirer record of a captured sale that shows as captured', corrected)
