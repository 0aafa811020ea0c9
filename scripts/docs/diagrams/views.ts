/** What each picture of the machine shows: presentation only, every fact comes from the machine. */
export type Tone = 'good' | 'doubt' | 'bad' | 'plain'

export interface ChartView {
  /** Unique: `payment-hold`. */
  readonly name: string
  readonly title: string
  /** `overview`: states of the first level, parallel arrows merged. `detail`: with substates. */
  readonly level: 'overview' | 'detail'
  /** States of the first level; their substates come along. */
  readonly states: readonly string[]
  readonly direction: 'LR' | 'TB'
  /** States side by side; by default Graphviz places them. */
  readonly rows: readonly (readonly string[])[]
  /** Events, conditions and actions whose transitions the picture leaves out. */
  readonly leftOut: readonly string[]
}

/** States without a tone are plain. */
export const tones: Readonly<Record<string, Tone>> = {
  pre_authorized: 'good',
  captured: 'good',
  refunded: 'good',
  partially_refunded: 'good',
  canceled: 'good',
  unknown: 'doubt',
  'capturing.reconciling': 'doubt',
  'cancelling.reconciling': 'doubt',
  'refunding.reconciling': 'doubt',
  'failed.watched': 'doubt',
  'expired.releasing': 'doubt',
  'expired.released': 'bad',
  'failed.settled': 'bad',
  failed: 'bad',
  expired: 'bad',
  charged_back: 'bad'
}

/** The way that most payments go: drawn thick. */
export const mainPath: readonly (readonly [from: string, to: string])[] = [
  ['pending', 'captured'],
  ['pending', 'pre_authorized'],
  ['pre_authorized', 'capturing'],
  ['capturing', 'captured'],
  ['captured', 'refunding'],
  ['refunding', 'partially_refunded'],
  ['refunding', 'refunded']
]

/**
 * Redelivery, reconciliation of an operation, manual review: what no merchant causes. How `unknown` ends is not left out:
 * it is the outcome of the authorisation.
 */
const verification = [
  'RESUMED',
  'UNPROVEN',
  'OPERATION_BOOKED',
  'OPERATION_NOT_BOOKED',
  'RESOLVED_AS_BOOKED',
  'RESOLVED_AS_MISSING',
  'beginReleaseDoubt',
  'releaseLater',
  'listForReview',
  'endReview'
]

const detail = { level: 'detail', direction: 'LR', rows: [], leftOut: [] } as const

/** Together the detailed ones show every state. */
export const views: readonly ChartView[] = [
  {
    name: 'payment',
    title: 'The life of a payment',
    level: 'overview',
    states: [
      'pending',
      'pre_authorized',
      'capturing',
      'captured',
      'refunding',
      'partially_refunded',
      'refunded',
      'unknown',
      'failed',
      'cancelling',
      'canceled',
      'expired',
      'charged_back'
    ],
    direction: 'TB',
    rows: [
      ['expired', 'cancelling', 'capturing'],
      ['canceled', 'captured']
    ],
    leftOut: verification
  },
  {
    ...detail,
    name: 'payment-authorisation',
    title: 'Authorisation',
    states: ['pending', 'unknown', 'failed']
  },
  {
    ...detail,
    name: 'payment-hold',
    title: 'Hold: capture, cancellation, expiry',
    states: ['pre_authorized', 'capturing', 'cancelling', 'canceled', 'expired']
  },
  {
    ...detail,
    name: 'payment-charge',
    title: 'Charge: refunds and chargebacks',
    states: ['captured', 'refunding', 'partially_refunded', 'refunded', 'charged_back'],
    direction: 'TB',
    // That a refund in doubt ends there too would make it too wide for a laptop.
    leftOut: ['isChargedBack']
  }
]
