/** A scratch payment, stepped by hand through example events. Needs no Redis: the steps so far are all the state. */
import { readChart } from '../../machines/chart.js'
import { placeOf } from '../../machines/model.js'
import { paymentMachine } from '../../machines/payment/machine.js'
import { observePayment } from '../../redis/operator/inspection.js'
import { isRecord } from '../../runtime/json.js'
import { type ExampleEvent, exampleEvents, exampleOf } from '../docs/payment-paths/payment-examples.js'
import { firstWorld, happen, isTimely, nextMomentMs, type World } from '../docs/payment-paths/payment-world.js'
import { historyLines, plain } from './history.js'
import type { Choice, HistoryLine, WhatIf } from './view-model.js'

/** `capture` of the request that creates the payment. */
export const beginnings: readonly string[] = ['capture: true', 'capture: false']
const STEPS_MAX = 100

/** Takes the steps that the page sent: where they lead, and what may follow. Throws with a sentence about what is wrong. */
export function whatIf(request: unknown): WhatIf {
  const { beginning, steps } = isRecord(request) ? request : {}
  if (typeof beginning !== 'string' || !beginnings.includes(beginning)) {
    throw new Error(`A what-if has one of these beginnings: ${beginnings.join(', ')}.`)
  }
  if (!Array.isArray(steps) || steps.length > STEPS_MAX || !steps.every(step => typeof step === 'string')) {
    throw new Error(`The steps of a what-if are at most ${STEPS_MAX} ids of example events.`)
  }
  let world = firstWorld(beginning === 'capture: false' ? 'manual' : 'auto')
  const unstored: HistoryLine[] = []
  for (const id of steps) {
    const line = unstoredLine(exampleOf(id), world)
    if (line !== null) unstored.push(line)
    world = next(exampleOf(id), world).world
  }
  const stored = historyLines(observePayment(world.payment), readChart(paymentMachine))
  return {
    place: placeOf(world.payment.progress),
    lines: [...unstored, ...stored].sort((one, other) => one.atMs - other.atMs),
    choices: exampleEvents.map(example => choiceOf(example, world))
  }
}

function next(example: ExampleEvent, world: World): ReturnType<typeof happen> {
  return happen(world, example.event(world.payment, nextMomentMs(world)))
}

/** The history of a payment has only events that changed it. */
function unstoredLine(example: ExampleEvent, world: World): HistoryLine | null {
  const { decision } = next(example, world)
  const line = plain(nextMomentMs(world), example.type, placeOf(world.payment.progress))
  if (decision.kind === 'refused') return { ...line, refusal: decision.code }
  if (decision.isChanged) return null
  return { ...line, effect: decision.effect?.kind ?? null }
}

function choiceOf(example: ExampleEvent, world: World): Choice {
  const { decision } = next(example, world)
  const isTaken = decision.kind === 'taken'
  return {
    id: example.id,
    label: example.label,
    isTimely: isTimely(example, world),
    next: isTaken ? placeOf(decision.payment.progress) : null,
    effect: isTaken ? (decision.effect?.kind ?? null) : null,
    refusal: isTaken ? null : decision.code
  }
}
