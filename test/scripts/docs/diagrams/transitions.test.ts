/** docs/TRANSITIONS.md against the machine: every state, every event, the illegal ones too. */
import { expect } from 'chai'
import { chartEvents, leavesOf } from '../../../../machines/chart.js'
import { placeOf } from '../../../../machines/model.js'
import { decide } from '../../../../machines/payment/decide.js'
import type { PaymentEvent } from '../../../../machines/payment/events.js'
import { paymentTransitions } from '../../../../scripts/docs/diagrams/transitions.js'
import { examplePolicy } from '../../../../scripts/docs/payment-paths/example-payment.js'
import { exampleEvents } from '../../../../scripts/docs/payment-paths/payment-examples.js'
import { endOf, shortestPaths } from '../../../../scripts/docs/payment-paths/payment-paths.js'
import { nextMomentMs } from '../../../../scripts/docs/payment-paths/payment-world.js'
import { paymentChart } from '../../../support/payment-paths.js'

describe('the table of transitions', function () {
  // Hundreds of situations times all examples: seconds of computing, and more on a machine that is busy.
  this.timeout(60_000)
  const states = paymentTransitions()
  const situations = [...shortestPaths('auto'), ...shortestPaths('manual')].map(endOf)
  const rowsOf = (place: string): (typeof states)[number] => {
    const rows = states.find(({ state }) => state === place)
    if (rows === undefined) throw new Error(`The table has no rows for ${place}.`)
    return rows
  }

  it('has rows for every state, and lists every event of the chart', () => {
    expect(states.map(({ state }) => state)).to.deep.equal(leavesOf(paymentChart).map(({ path }) => path))
    const listed = new Set(states.flatMap(({ taken }) => taken.map(({ event }) => event)))
    expect([...listed].sort()).to.deep.equal(chartEvents(paymentChart).sort())
  })

  it('says of every event that is taken where it leads, what the worker does, and what the webhook says', () => {
    for (const world of situations) {
      const { payment } = world
      for (const example of exampleEvents) {
        const decision = decide(payment, example.event(payment, nextMomentMs(world)), examplePolicy)
        if (decision.kind === 'refused') continue
        const next = placeOf(decision.payment.progress)
        const sent =
          decision.payment.progress.status === payment.progress.status ? null : decision.payment.progress.status
        const effect = decision.effect?.kind ?? null
        const found = rowsOf(placeOf(payment.progress)).taken.filter(
          row => row.event === decision.event && row.next === next && row.sent === sent
        )
        // Without the id of a sale nothing can be sent: the network is asked for it first.
        const isListed = found.some(row => row.effect === effect || effect === 'query')
        expect(isListed, `${placeOf(payment.progress)} on ${example.id}: ${next}, ${effect}`).to.equal(true)
      }
    }
  })

  it('says of every command that is refused why', () => {
    for (const world of situations) {
      const { payment } = world
      for (const example of exampleEvents) {
        const decision = decide(payment, example.event(payment, nextMomentMs(world)), examplePolicy)
        if (decision.kind === 'taken' || !isCommand(example.type)) continue
        const place = placeOf(payment.progress)
        const row = rowsOf(place).refused.find(({ event }) => event === example.type)
        expect(row?.codes, `${place} on ${example.id}`).to.include(decision.code)
      }
    }
  })
})

function isCommand(type: PaymentEvent['type']): boolean {
  return [
    'CAPTURE',
    'CANCEL',
    'EXPIRE',
    'RECONCILE',
    'NETWORK_NOTIFICATION',
    'REVIEW_RESOLVED',
    'OPERATION_CONCLUDED'
  ].includes(type)
}
