/**
 * Generated ways through the life of a payment, in the form in which tests use them: a title, the steps, and what has to
 * be true after each. The pure machine runs all of them.
 */
import { type ChartTransition, candidates, readChart } from '../../machines/chart.js'
import { type PaymentStatus, placeOf } from '../../machines/model.js'
import { classify } from '../../machines/payment/classify.js'
import type { PaymentEvent } from '../../machines/payment/events.js'
import { paymentMachine } from '../../machines/payment/machine.js'
import { examplePolicy } from '../../scripts/docs/payment-paths/example-payment.js'
import type { World } from '../../scripts/docs/payment-paths/payment-world.js'
import { allEdges, endOf, type PaymentPath, shortestPaths } from './shortest-paths.js'

export type { PathStep, PaymentPath } from './shortest-paths.js'

/** A path with the name of a test: `manual: authorise, approved, capture -> capturing.sending`. */
export interface TitledPath extends PaymentPath {
  readonly title: string
  readonly endsIn: PaymentStatus
}

export const paymentChart = readChart(paymentMachine)

/** One shortest path to each innermost state, for each way of capturing that can reach it. */
export function pathsToStates(): TitledPath[] {
  return modes.flatMap(mode => {
    const first = new Map<string, PaymentPath>()
    for (const path of byLength(shortestPaths(mode))) {
      const place = placeOf(endOf(path).payment.progress)
      if (!first.has(place)) first.set(place, path)
    }
    return [...first.values()].map(titled)
  })
}

/**
 * Paths that together take every transition of the chart that can be taken, by each kind of event that is classified as
 * the transition's own; each path as short as it gets.
 */
export function pathsOverTransitions(): TitledPath[] {
  const chosen = new Map<ChartTransition, Map<string, PaymentPath>>()
  for (const path of byLength(modes.flatMap(allEdges))) {
    const last = lastTransition(path)
    const happened = path.steps.map(({ event }) => wordsOf(event)).at(-1)
    if (last === null || happened === undefined) continue
    const byEvent = chosen.get(last) ?? new Map<string, PaymentPath>()
    if (!byEvent.has(happened)) byEvent.set(happened, path)
    chosen.set(last, byEvent)
  }
  return [...chosen.values()].flatMap(byEvent => [...byEvent.values()]).map(titled)
}

/** Every path that is one event longer than the shortest way to a situation. */
export function allPaths(): PaymentPath[] {
  return modes.flatMap(allEdges)
}

/** The world in which the step was taken. */
export function before(path: PaymentPath, index: number): World {
  return path.steps[index - 1]?.world ?? path.start
}

/** The transition of the chart that an event takes; null when it is refused. */
export function transitionTaken(world: World, happened: PaymentEvent): ChartTransition | null {
  const event = classify(world.payment, happened, examplePolicy)
  if (event === null) return null
  const { status: _, phase: __, ...figures } = world.payment.progress
  const context = { terms: world.payment.terms, figures, policy: examplePolicy }
  const guards: Readonly<Record<string, unknown>> = paymentMachine.implementations.guards
  const holds = (name: string): boolean => {
    const guard = guards[name]
    if (typeof guard !== 'function') throw new Error(`The guard ${name} is not implemented.`)
    return guard({ context, event }, undefined) === true
  }
  const place = placeOf(world.payment.progress)
  return candidatesIn(place, event.type).find(({ guard }) => guard === null || holds(guard)) ?? null
}

const known = new Map<string, ChartTransition[]>()

/** As `candidates`, remembered: tests ask it for each of some ten thousand steps. */
function candidatesIn(place: string, event: string): ChartTransition[] {
  const key = `${place} ${event}`
  const found = known.get(key) ?? candidates(paymentChart, place, event)
  known.set(key, found)
  return found
}

const modes = ['auto', 'manual'] as const

function lastTransition(path: PaymentPath): ChartTransition | null {
  const last = path.steps.at(-1)
  return last === undefined ? null : transitionTaken(before(path, path.steps.length - 1), last.event)
}

function byLength<T extends PaymentPath>(paths: readonly T[]): T[] {
  return paths.toSorted((one, other) => one.steps.length - other.steps.length)
}

function wordsOf(event: PaymentEvent): string {
  if (event.type === 'FOUND') return `found ${event.sale.status}`
  return event.type.toLowerCase().replaceAll('_', ' ')
}

function titled(path: PaymentPath): TitledPath {
  const { payment } = endOf(path)
  const events = path.steps.map(({ event }) => wordsOf(event))
  const way = events.length === 0 ? 'accepted' : events.join(', ')
  return {
    ...path,
    title: `${path.captureMode}: ${way} -> ${placeOf(payment.progress)}`,
    endsIn: payment.progress.status
  }
}
