/** The machine of a payment for the page: its pictures, and what may happen in each state. */
import { type Chart, entered, leavesOf, outgoing, readChart } from '../../machines/chart.js'
import { effectKinds } from '../../machines/payment/effects.js'
import { paymentMachine } from '../../machines/payment/machine.js'
import { guardWords } from '../docs/diagrams/drawing.js'
import { views } from '../docs/diagrams/views.js'
import { svgOf } from './svg.js'
import type { MachineView, NextStep } from './view-model.js'
import { beginnings } from './what-if.js'

/** Draws every picture, which takes about half a second. */
export async function machineView(): Promise<MachineView> {
  const chart = readChart(paymentMachine)
  const pictures = views.map(async view => {
    const { name, title, level, states } = view
    const drawn = await svgOf(chart, view)
    return { name, title, level, states, svg: drawn.slice(drawn.indexOf('<svg')) }
  })
  const leaves = leavesOf(chart)
  return {
    pictures: await Promise.all(pictures),
    descriptions: Object.fromEntries(leaves.map(({ path, description }) => [path, description])),
    next: Object.fromEntries(leaves.map(({ path }) => [path, nextSteps(chart, path)])),
    beginnings
  }
}

function nextSteps(chart: Chart, path: string): NextStep[] {
  return outgoing(chart, path).map(({ event, guard, target, actions, description }) => ({
    event,
    guard: guard === null ? null : guardWords(guard),
    next: target === null ? path : entered(chart, target),
    effect: actions.flatMap(action => effectKinds[action] ?? [])[0] ?? null,
    description
  }))
}
