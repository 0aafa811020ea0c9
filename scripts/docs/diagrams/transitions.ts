/** Every state of a payment x everything that can happen, as rows: what comes next, or why it is refused. */
import { type ChartTransition, candidates, chartEvents, entered, leavesOf, readChart } from '../../../machines/chart.js'
import { placeOf, type RefusalCode } from '../../../machines/model.js'
import { effectKinds } from '../../../machines/payment/effects.js'
import { paymentMachine } from '../../../machines/payment/machine.js'
import { exampleEvents } from '../payment-paths/payment-examples.js'
import { endOf, shortestPaths } from '../payment-paths/payment-paths.js'
import { happen, laterCommands, nextMomentMs, type World } from '../payment-paths/payment-world.js'
import { topOf } from './drawing.js'

/** One thing that an event does in a state. */
export interface TakenRow {
  readonly event: string
  readonly guard: string | null
  /** The innermost state afterwards. */
  readonly next: string
  /** What the worker does then; null: nothing. */
  readonly effect: string | null
  /** The status that a webhook sends to merchants; null: it does not change. */
  readonly sent: string | null
  readonly description: string
}

/** A command that a state does not take, or takes under a condition only. */
export interface RefusedRow {
  readonly event: string
  /** What examples of the event were answered with. */
  readonly codes: readonly RefusalCode[]
}

export interface StateRows {
  readonly state: string
  readonly description: string
  readonly taken: readonly TakenRow[]
  readonly refused: readonly RefusedRow[]
}

const chart = readChart(paymentMachine)

/** One entry per innermost state. Throws when there is one that no generated path reaches. */
export function paymentTransitions(): StateRows[] {
  const situations = [...shortestPaths('manual'), ...shortestPaths('auto')].map(endOf)
  return leavesOf(chart).map(({ path, description }) => {
    const here = situations.filter(({ payment }) => placeOf(payment.progress) === path)
    if (here.length === 0) throw new Error(`No path leads to ${path}; add an example event that does.`)
    const refusals = laterCommands.map(event => ({ event, codes: refusalCodes(event, here) }))
    return {
      state: path,
      description,
      taken: chartEvents(chart).flatMap(event =>
        candidates(chart, path, event).map(transition => takenRow(path, transition))
      ),
      refused: refusals.filter(({ codes }) => codes.length > 0)
    }
  })
}

function takenRow(path: string, { event, guard, target, actions, description }: ChartTransition): TakenRow {
  const next = target === null ? path : entered(chart, target)
  return {
    event,
    guard,
    next,
    effect: actions.map(action => effectKinds[action]).find(effect => effect !== undefined) ?? null,
    sent: topOf(next) === topOf(path) ? null : topOf(next),
    description
  }
}

function refusalCodes(type: string, situations: readonly World[]): RefusalCode[] {
  const codes = situations.flatMap(world =>
    exampleEvents
      .filter(example => example.type === type)
      .map(example => happen(world, example.event(world.payment, nextMomentMs(world))).decision)
      .flatMap(decision => (decision.kind === 'refused' ? decision.code : []))
  )
  return [...new Set(codes)].sort()
}
