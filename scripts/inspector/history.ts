/** The history of a payment with what is not stored: the state before each event, and its effect. */
import { type Chart, candidates, entered } from '../../machines/chart.js'
import { type HistoryEntry, placeOf } from '../../machines/model.js'
import { effectKinds } from '../../machines/payment/effects.js'
import type { ObservedPayment } from '../../redis/operator/inspection.js'
import type { HistoryLine } from './view-model.js'

/** Events that are answers of the network about a sale. */
const ANSWERS = /^(APPROVED|DECLINED|REJECTED|[A-Z]+_SALE|SALE_\w+|OPERATION_(BOOKED|MISSING|NOT_BOOKED))$/

/**
 * The lines of a stored history. A line begins in the state in which the one before ended. Its effect is that of the
 * transition of the chart between the two.
 */
export function historyLines(payment: ObservedPayment, chart: Chart): HistoryLine[] {
  const { saleId } = payment.progress.references
  const first: HistoryLine = {
    ...plain(payment.createdAtMs, 'accepted', chart.initial),
    from: '',
    effect: effectKinds['authorise'] ?? null
  }
  let from = chart.initial
  const lines = payment.history.map(entry => {
    const to = placeOf(entry)
    const line = {
      ...plain(entry.atMs, entry.event, from),
      to,
      detail: entry.detail,
      times: entry.times,
      effect: effectOf(chart, from, entry),
      reference: ANSWERS.test(entry.event) ? saleId : null
    }
    from = to
    return line
  })
  return [first, ...lines]
}

/** A line of an event that changes no state. */
export function plain(atMs: number, event: string, place: string): HistoryLine {
  return {
    atMs,
    event,
    from: place,
    to: place,
    detail: null,
    times: 1,
    effect: null,
    reference: null,
    refusal: null,
    worker: null
  }
}

function effectOf(chart: Chart, from: string, entry: HistoryEntry): string | null {
  const to = placeOf(entry)
  const taken = candidates(chart, from, entry.event).find(
    ({ target }) => (target === null ? from : entered(chart, target)) === to
  )
  return taken?.actions.flatMap(action => effectKinds[action] ?? [])[0] ?? null
}
