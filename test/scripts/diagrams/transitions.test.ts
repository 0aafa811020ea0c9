/** docs/TRANSITIONS.md against the machine: every state, every event, the illegal ones too. */
import { expect } from 'chai'
import { chartEvents, leavesOf } from '../../../machines/chart.js'
import { placeOf } from '../../../machines/model.js'
import { decide } from '../../../machines/payment/decide.js'
import { paymentTransitions } from '../../../scripts/diagrams/transitions.js'
import { effectWords } from '../../../scripts/payment-paths/effect-words.js'
import { examplePolicy } from '../../../scripts/payment-paths/example-payment.js'
import { exampleEvents } from '../../../scripts/payment-paths/payment-examples.js'
import { endOf, shortestPaths } from '../../../scripts/payment-paths/payment-paths.js'
import { nextMomentMs } from '../../../scripts/payment-paths/payment-world.js'
import { paymentChart } from '../../support/payment-paths.js'

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

  it('has rows for every state and every event', () => {
    expect(states.map(({ state }) => state)).to.deep.equal(leavesOf(paymentChart).map(({ path }) => path))
    for (const { state, taken, refused } of states) {
      const listed = new Set([...taken, ...refused].map(({ event }) => event))
      expect([...listed].sort(), state).to.deep.equal(chartEvents(paymentChart).sort())
    }
  })

  it('says of every event that is taken where it leads, what the worker does, and what the merchant is told', () => {
    for (const world of situations) {
      const { payment } = world
      for (const example of exampleEvents) {
        const decision = decide(payment, example.event(payment, nextMomentMs(world)), examplePolicy)
        if (decision.kind === 'refused') continue
        const next = placeOf(decision.payment.progress)
        const told =
          decision.payment.progress.status === payment.progress.status ? null : decision.payment.progress.status
        const effect = decision.effect === null ? null : effectWords[decision.effect.kind]
        const found = rowsOf(placeOf(payment.progress)).taken.filter(
          row => row.event === example.type && row.next === next && row.told === told
        )
        // Without the id of a sale nothing can be sent: the network is asked for it first.
        const isListed = found.some(row => (row.effect?.replace(' surplus', '') ?? null) === effect || effect === 'ask')
        expect(isListed, `${placeOf(payment.progress)} on ${example.id}: ${next}, ${effect}`).to.equal(true)
      }
    }
  })

  it('says of every event that is refused why', () => {
    for (const world of situations) {
      const { payment } = world
      for (const example of exampleEvents) {
        const decision = decide(payment, example.event(payment, nextMomentMs(world)), examplePolicy)
        if (decision.kind === 'taken') continue
        const place = placeOf(payment.progress)
        const row = rowsOf(place).refused.find(({ event }) => event === example.type)
        expect(row?.codes, `${place} on ${example.id}`).to.include(decision.code)
      }
    }
  })

  it('gives a reason for every refusal: there is an example of it', () => {
    const silent = states.flatMap(({ state, refused }) =>
      refused.filter(({ codes }) => codes.length === 0).map(({ event }) => `${state} on ${event}`)
    )
    expect(silent).to.deep.equal(ALWAYS_TAKEN)
  })
})

/** Guarded in the chart, and yet there is no example that the guards refuse. */
const ALWAYS_TAKEN: readonly string[] = []
