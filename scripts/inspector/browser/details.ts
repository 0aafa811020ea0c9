/** The details of a payment: its fields, its history, what may come next. */
import type { HistoryLine, MachineView, NextStep, SeenPayment } from '../view-model.js'
import { element } from './element.js'
import { clock, eventWords, money, statusOf } from './words.js'

/** Everything about one payment. */
export function paymentDetails({ id, facts }: SeenPayment, machine: MachineView): HTMLElement[] {
  const { place } = facts
  const { saleId, tid, nsu, authorizationCode } = facts.references
  const rows: [string, string | null | undefined][] = [
    ['Payment', id],
    ['Merchant', facts.merchantId],
    ['Amount', `${money(facts.amountCents)} · ${facts.brand} · capture ${facts.captureMode}`],
    ['Captured', facts.capturedCents > 0 ? money(facts.capturedCents) : null],
    ['Refunded', facts.refundedCents > 0 ? money(facts.refundedCents) : null],
    ['Operation', facts.operation],
    ['Sale', saleId],
    ['References', [tid, nsu, authorizationCode].filter(Boolean).join(' · ')],
    ['Manual review', facts.reviewReason],
    ['Worker', facts.worker]
  ]
  const definitions = rows.flatMap(([name, value]) =>
    value ? [element('dt', {}, name), element('dd', { title: value }, value)] : []
  )
  return [
    placeHeading(place, machine),
    element('dl', {}, ...definitions),
    element('h2', {}, 'History'),
    historyTable(facts.lines),
    element('h2', {}, 'May come next'),
    nextTable(machine.next[place] ?? [], place)
  ]
}

/** The state in large letters, with its meaning. */
export function placeHeading(place: string, machine: MachineView): HTMLElement {
  return element(
    'div',
    { class: 'place' },
    element('strong', { class: 'chip', 'data-status': statusOf(place), id: 'place' }, place),
    element('p', {}, machine.descriptions[place] ?? '')
  )
}

/** One row per event, the newest last. */
export function historyTable(lines: readonly HistoryLine[]): HTMLElement {
  const head = element('tr', {}, ...['Time', 'Event', 'To'].map(name => element('th', {}, name)))
  return element(
    'table',
    { class: 'history' },
    element('thead', {}, head),
    element('tbody', {}, ...lines.map(historyRow))
  )
}

function historyRow(line: HistoryLine): HTMLElement {
  const times = line.times > 1 ? ` ×${line.times}` : ''
  const event = element('td', {}, element('b', {}, eventWords(line.event) + times))
  if (line.detail !== null) event.append(element('small', {}, line.detail))
  if (line.reference !== null) {
    event.append(element('small', { class: 'reference', title: line.reference }, `sale ${endOf(line.reference)}`))
  }
  if (line.worker !== null) event.append(element('small', {}, line.worker))
  const words = line.refusal === null ? (line.from === line.to ? '·' : line.to) : `refused: ${line.refusal}`
  const to = element('td', { title: `from ${line.from}` }, words)
  if (line.effect !== null) to.append(element('small', {}, `then ${line.effect}`))
  return element(
    'tr',
    line.refusal === null ? {} : { class: 'refused' },
    element('td', {}, clock(line.atMs)),
    event,
    to
  )
}

/** Ids of sales are random: eight characters identify one. */
function endOf(reference: string): string {
  return reference.length > 12 ? `…${reference.slice(-8)}` : reference
}

function nextTable(steps: readonly NextStep[], place: string): HTMLElement {
  if (steps.length === 0) return element('p', { class: 'faint' }, 'Nothing: this is an end.')
  const rows = steps.map(step => {
    const event = element('td', {}, element('b', {}, eventWords(step.event)))
    if (step.guard !== null) event.append(element('small', {}, `if ${step.guard}`))
    return element(
      'tr',
      { title: step.description },
      event,
      element('td', {}, step.next === place ? 'stays' : step.next),
      element('td', {}, step.effect ?? '')
    )
  })
  return element('table', { class: 'next' }, element('tbody', {}, ...rows))
}
