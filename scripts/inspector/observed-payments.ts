/** The payments that were seen, with what the page shows of each. Keeps the newest `PAYMENTS_MAX` in memory. */
import { type Chart, readChart } from '../../machines/chart.js'
import { placeOf } from '../../machines/model.js'
import { paymentMachine } from '../../machines/payment/machine.js'
import type { ObservedDecision, ObservedPayment } from '../../redis/operator/inspection.js'
import { historyLines, plain } from './history.js'
import type { HistoryLine, PaymentFacts, SeenPayment } from './view-model.js'

const PAYMENTS_MAX = 200
const REFUSALS_MAX = 20

interface Observed {
  payment: ObservedPayment
  worker: string
  /** By time and event. The stored history has no workers. */
  readonly workers: Map<string, string>
  readonly refusals: HistoryLine[]
}

export interface ObservedPayments {
  /** Takes a decision. Returns its payment for the viewers that are connected. */
  observe(decision: ObservedDecision): SeenPayment
  /** For a new viewer: all payments, the oldest first. */
  all(): SeenPayment[]
}

export function createObservedPayments(): ObservedPayments {
  const chart = readChart(paymentMachine)
  const observed = new Map<string, Observed>()
  const seen = (one: Observed): SeenPayment => ({ id: one.payment.id, facts: factsOf(one, chart) })

  const begin = (payment: ObservedPayment, worker: string): Observed => {
    const one: Observed = { payment, worker, workers: new Map(), refusals: [] }
    observed.set(payment.id, one)
    const [oldest] = observed.keys()
    if (observed.size > PAYMENTS_MAX && oldest !== undefined) observed.delete(oldest)
    return one
  }

  return {
    observe({ payment, worker, event, atMs, refusal }) {
      const one = observed.get(payment.id) ?? begin(payment, worker)
      one.worker = worker
      one.workers.set(`${atMs} ${event}`, worker)
      // Reports of two workers may arrive in the wrong order. The version tells which payment is newer.
      if (payment.version >= one.payment.version) one.payment = payment
      if (refusal !== null) {
        one.refusals.push({ ...plain(atMs, event, placeOf(payment.progress)), refusal, worker })
        one.refusals.splice(0, one.refusals.length - REFUSALS_MAX)
      }
      return seen(one)
    },
    all: () => Array.from(observed.values(), seen)
  }
}

function factsOf({ payment, worker, workers, refusals }: Observed, chart: Chart): PaymentFacts {
  const { progress } = payment
  const lines = historyLines(payment, chart).map(line => ({
    ...line,
    worker: workers.get(`${line.atMs} ${line.event}`) ?? null
  }))
  return {
    place: placeOf(progress),
    merchantId: payment.merchantId,
    captureMode: payment.captureMode,
    amountCents: payment.amountCents,
    capturedCents: progress.capturedCents,
    refundedCents: progress.refundedCents,
    brand: payment.brand,
    createdAtMs: payment.createdAtMs,
    references: { ...progress.references },
    operation: `${progress.operation.kind} ${progress.operation.state}`,
    reviewReason: progress.reviewReason,
    worker,
    lines: [...lines, ...refusals].sort((one, other) => one.atMs - other.atMs)
  }
}
