/**
 * What each picture shows: presentation only, every fact comes from the machine. A machine without an entry here gets
 * one picture with all its states.
 */
import type { Chart } from '../../../machines/chart.js'

export type Tone = 'good' | 'doubt' | 'bad' | 'plain'

export interface ChartView {
  /** File name and anchor: `payment-hold`. */
  readonly name: string
  readonly title: string
  /** `overview`: states of the first level, parallel arrows merged. `detail`: with substates. */
  readonly level: 'overview' | 'detail'
  /** States of the first level; their substates come along. */
  readonly states: readonly string[]
  /** The way that most payments go: drawn thick. */
  readonly mainPath: readonly (readonly [from: string, to: string])[]
  readonly direction: 'LR' | 'TB'
  /** States side by side; by default Graphviz places them. */
  readonly rows: readonly (readonly string[])[]
  /** Events, conditions and actions whose transitions the picture leaves out. */
  readonly leftOut: readonly string[]
  readonly tones: Readonly<Record<string, Tone>>
}

const paymentTones: Readonly<Record<string, Tone>> = {
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

const paymentMainPath: ChartView['mainPath'] = [
  ['pending', 'captured'],
  ['pending', 'pre_authorized'],
  ['pre_authorized', 'capturing'],
  ['capturing', 'captured'],
  ['captured', 'refunding'],
  ['refunding', 'partially_refunded'],
  ['refunding', 'refunded']
]

const payment = { mainPath: paymentMainPath, tones: paymentTones }

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

/** What differs from a detailed picture of all states. */
const views: Readonly<Record<string, readonly Partial<ChartView>[]>> = {
  payment: [
    {
      ...payment,
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
      ...payment,
      name: 'payment-authorisation',
      title: 'Authorisation',
      states: ['pending', 'unknown', 'failed']
    },
    {
      ...payment,
      name: 'payment-hold',
      title: 'Hold: capture, cancellation, expiry',
      states: ['pre_authorized', 'capturing', 'cancelling', 'canceled', 'expired']
    },
    {
      ...payment,
      name: 'payment-charge',
      title: 'Charge: refunds and chargebacks',
      states: ['captured', 'refunding', 'partially_refunded', 'refunded', 'charged_back'],
      direction: 'TB',
      // That a refund in doubt ends there too would make it too wide for a laptop.
      leftOut: ['isChargedBack']
    }
  ]
}

/** The pictures of a machine. Together the detailed ones show every state. */
export function viewsOf({ id, description, states }: Chart): readonly ChartView[] {
  const whole: ChartView = {
    name: id,
    title: description,
    level: 'detail',
    states: states.filter(({ parent }) => parent === null).map(({ path }) => path),
    mainPath: [],
    direction: 'LR',
    rows: [],
    leftOut: [],
    tones: {}
  }
  return (views[id] ?? [{}]).map(view => ({ ...whole, ...view }))
}
