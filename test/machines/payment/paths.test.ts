/** Paths generated from the machine, run against the machine; invariants that hold wherever they lead. */
import { expect } from 'chai'
import { type ChartTransition, candidates, entered, leavesOf, readChart } from '../../../machines/chart.js'
import {
  isOpen,
  operationStates,
  type Payment,
  type PaymentPhase,
  type PaymentStatus,
  placeOf,
  type Refund
} from '../../../machines/model.js'
import { refundableCents } from '../../../machines/payment/amounts.js'
import type { PaymentTag } from '../../../machines/payment/chart-setup.js'
import { classify } from '../../../machines/payment/classify.js'
import { decide } from '../../../machines/payment/decide.js'
import { effectKinds } from '../../../machines/payment/effects.js'
import type { PaymentEvent } from '../../../machines/payment/events.js'
import { hasTag, isInFlight, paymentMachine } from '../../../machines/payment/machine.js'
import { wakeAtMs } from '../../../machines/payment/wake-ups.js'
import { examplePolicy } from '../../../scripts/docs/payment-paths/example-payment.js'
import { exampleEvents } from '../../../scripts/docs/payment-paths/payment-examples.js'
import { isTimely, nextMomentMs, type World } from '../../../scripts/docs/payment-paths/payment-world.js'
import { allEdges, endOf, type PaymentPath, shortestPaths } from '../../support/shortest-paths.js'

const modes = ['auto', 'manual'] as const
const edges = modes.flatMap(allEdges)
const paymentChart = readChart(paymentMachine)
/** What each tag is true of; the machine is held against this list, and everything else asks for the tag. */
const TAGGED: Readonly<Record<PaymentTag, readonly string[]>> = {
  in_progress: [
    'pending',
    'unknown',
    'capturing.sending',
    'capturing.reconciling',
    'cancelling.sending',
    'cancelling.reconciling',
    'refunding.sending',
    'refunding.reconciling'
  ],
  in_flight: ['pending', 'capturing.sending', 'cancelling.sending', 'refunding.sending', 'expired.releasing'],
  verifiable: [
    'pre_authorized',
    'captured',
    'canceled',
    'partially_refunded',
    'refunded',
    'charged_back',
    'expired.released'
  ],
  refundable: ['captured', 'partially_refunded', 'refunded'],
  resting: [
    'captured',
    'canceled',
    'partially_refunded',
    'refunded',
    'charged_back',
    'expired.released',
    'failed.settled'
  ]
}

describe('the tags of a place', () => {
  for (const [tag, places] of Object.entries(TAGGED) as [PaymentTag, readonly string[]][]) {
    it(`${tag}: ${places.join(', ')}`, () => {
      const tagged = leavesOf(paymentChart).filter(({ path }) => {
        const [status, phase = null] = path.split('.') as [PaymentStatus, PaymentPhase?]
        return hasTag({ status, phase }, tag)
      })
      expect(tagged.map(({ path }) => path).sort()).to.deep.equal([...places].sort())
    })
  }
})

describe('paths through the life of a payment', () => {
  it('lead to every state', () => {
    const reached = new Set(modes.flatMap(shortestPaths).map(path => placeOf(endOf(path).payment.progress)))
    expect([...reached].sort()).to.deep.equal(
      leavesOf(paymentChart)
        .map(({ path }) => path)
        .sort()
    )
  })

  it('take every transition', () => {
    const taken = new Set(edges.map(path => transitionTaken(beforeEnd(path), lastEvent(path))))
    const missed = paymentChart.transitions.filter(transition => !taken.has(transition))
    expect(missed.map(({ source, event, guard }) => `${source} on ${event} [${guard}]`)).to.deep.equal(UNREACHABLE)
  })
})

/**
 * Transitions that no order of events takes in which workers live; a dead one may leave its payment as it was. The one of a
 * refund needs data that comes back during its call (unvouched.test.ts).
 */
const UNREACHABLE: readonly string[] = ['refunding.sending on EARLIER_TRY_IN_DOUBT [null]']

describe('wherever a path leads', () => {
  const worlds = edges.map(endOf)
  const situations = (): World[] => modes.flatMap(shortestPaths).map(endOf)

  it('the money adds up (invariant 4)', () => {
    for (const { payment } of worlds) expectSoundMoney(payment)
  })

  it('applies the transition of the chart to each event, and refuses an event without one', () => {
    for (const world of situations()) {
      for (const example of exampleEvents) {
        const event = example.event(world.payment, nextMomentMs(world))
        const decision = decide(world.payment, event, examplePolicy)
        const transition = transitionTaken(world, event)
        const place = placeOf(world.payment.progress)
        expect(decision.kind, `${place} on ${example.id}`).to.equal(transition === null ? 'refused' : 'taken')
        if (decision.kind === 'refused' || transition === null) continue
        const next = transition.target === null ? place : entered(paymentChart, transition.target)
        expect(placeOf(decision.payment.progress), `${place} on ${example.id}`).to.equal(next)
      }
    }
  })

  it('requests at most one call to the network, the one that the chart names', () => {
    for (const path of edges) {
      const transition = transitionTaken(beforeEnd(path), lastEvent(path))
      const named = (transition?.actions ?? []).flatMap(action => effectKinds[action] ?? [])
      expect(named).to.have.length.at.most(1)
      const { inFlight } = endOf(path)
      expect(inFlight === null ? [] : [inFlight.kind], path.steps.map(s => s.event.type).join()).to.satisfy(
        // Without the id of a sale nothing can be sent: it is asked for first.
        (words: string[]) => words.join() === named.join() || words.join() === 'query'
      )
    }
  })

  it('no payment is forgotten: it is at rest, waits for an answer, or will be woken (invariant 2)', () => {
    for (const { payment, inFlight } of worlds) {
      const isCaredFor = inFlight !== null || wakeAtMs(payment.progress) !== null
      expect(isCaredFor || hasTag(payment.progress, 'resting'), JSON.stringify(payment.progress)).to.equal(true)
    }
  })

  it('every answer that a call can get is taken: a refused one would end the command without a result', () => {
    for (const world of situations().filter(({ inFlight }) => inFlight !== null)) {
      for (const example of exampleEvents.filter(candidate => isTimely(candidate, world))) {
        // A worker says RESUMED of a call only; a query is simply sent again.
        if (example.type === 'RESUMED' && !isInFlight(world.payment.progress)) continue
        const event = example.event(world.payment, nextMomentMs(world))
        const { kind } = decide(world.payment, event, examplePolicy)
        expect(kind, `${placeOf(world.payment.progress)}, ${world.inFlight?.kind}, ${example.id}`).to.equal('taken')
      }
    }
  })

  it('a request waits for its result exactly as long as its operation is open', () => {
    for (const { payment, inFlight } of worlds) {
      const { operation } = payment.progress
      if (isOpen(operation) && inFlight === null) expect(hasTag(payment.progress, 'resting')).to.equal(false)
    }
  })

  it('one operation at a time: while one is open, each other is refused as such, and else never', () => {
    for (const { payment } of worlds) {
      const { status, operation } = payment.progress
      expect(isOpen(operation), status).to.equal(hasTag(payment.progress, 'in_progress'))
      for (const type of ['CAPTURE', 'CANCEL'] as const) {
        const nowMs = payment.history.at(-1)?.atMs ?? 0
        const decision = decide(payment, { type, amountCents: null, idempotencyKey: 'next', nowMs }, examplePolicy)
        const code = decision.kind === 'refused' ? decision.code : null
        expect(code === 'operation_in_progress', `${type} in ${status}`).to.equal(isOpen(operation))
      }
    }
  })

  it('what has succeeded of the refunds is what was refunded, and one is open while its operation is', () => {
    const sumOf = (refunds: readonly Refund[]) => refunds.reduce((sum, { amountCents }) => sum + amountCents, 0)
    for (const { payment } of worlds) {
      const { refunds, refundedCents, operation } = payment.progress
      const done = refunds.filter(({ state }) => state === 'succeeded')
      expect(sumOf(done.filter(({ idempotencyKey }) => idempotencyKey !== null))).to.equal(refundedCents)
      const isRefunding = operation.kind === 'refund' && isOpen(operation)
      const wanted = isRefunding ? [[operation.state, operation.amountCents, operation.idempotencyKey]] : []
      const open = refunds.filter(isOpen)
      expect(open.map(one => [one.state, one.amountCents, one.idempotencyKey])).to.deep.equal(wanted)
      for (const { concludedAtMs, state, error } of refunds) {
        expect(concludedAtMs === null).to.equal(isOpen({ state }))
        expect(error === null).to.equal(state !== 'failed')
      }
    }
    const states = new Set(worlds.flatMap(({ payment }) => payment.progress.refunds.map(({ state }) => state)))
    expect([...states]).to.have.members(operationStates)
  })

  it('what can be refunded is exactly what was captured and not refunded (invariant 4)', () => {
    const paid = worlds.filter(({ payment }) => hasTag(payment.progress, 'refundable'))
    expect(new Set(paid.map(({ payment }) => payment.progress.status)).size).to.equal(TAGGED.refundable.length)
    for (const { payment } of paid) {
      const restCents = refundableCents(payment.progress)
      const refund = (amountCents: number | null) =>
        decide(payment, { type: 'CANCEL', amountCents, idempotencyKey: 'rest', nowMs: 0 }, examplePolicy)
      for (const amountCents of restCents > 0 ? [null, restCents, 1] : []) {
        const decision = refund(amountCents)
        if (decision.kind === 'refused') return expect.fail(`a refund of ${amountCents} was ${decision.code}`)
        expect(decision.payment.progress.operation.amountCents).to.equal(amountCents ?? restCents)
      }
      expect(refund(restCents + 1)).to.deep.equal({ kind: 'refused', code: 'amount_exceeds_refundable' })
    }
  })

  it('what is still to be asked has its time', () => {
    for (const { payment, inFlight } of worlds) {
      const { reconciliation, verification } = payment.progress
      if (inFlight !== null || (reconciliation === null && verification === null)) continue
      expect(wakeAtMs(payment.progress), JSON.stringify(payment.progress)).not.to.equal(null)
    }
  })

  it('the version counts changes, and the history has each of them', () => {
    for (const { payment } of worlds) {
      const lines = payment.history.reduce((sum, line) => sum + line.times, 0)
      expect(payment.version).to.equal(lines + 1)
    }
  })
})

/** The world in which the last step was taken. */
function beforeEnd({ start, steps }: PaymentPath): World {
  return steps.at(-2)?.world ?? start
}

/** The transition of the chart that an event takes; null when it is refused. */
function transitionTaken(world: World, happened: PaymentEvent): ChartTransition | null {
  const event = classify(world.payment, happened, examplePolicy)
  if (event === null) return null
  const { status: _, phase: __, ...facts } = world.payment.progress
  const context = { terms: world.payment.terms, facts, policy: examplePolicy }
  const guards: Readonly<Record<string, unknown>> = paymentMachine.implementations.guards
  const holds = (name: string): boolean => {
    const guard = guards[name]
    if (typeof guard !== 'function') throw new Error(`The guard ${name} is not implemented.`)
    return guard({ context, event }, undefined) === true
  }
  const place = placeOf(world.payment.progress)
  return candidates(paymentChart, place, event.type).find(({ guard }) => guard === null || holds(guard)) ?? null
}

function lastEvent({ steps }: PaymentPath): PaymentEvent {
  const last = steps.at(-1)
  if (last === undefined) throw new Error('A path without steps takes no transition.')
  return last.event
}

function expectSoundMoney({ terms, progress }: Payment): void {
  expect(progress.refundedCents).to.be.at.least(0)
  expect(progress.refundedCents).to.be.at.most(progress.capturedCents)
  expect(progress.capturedCents).to.be.at.most(terms.amountCents)
}
