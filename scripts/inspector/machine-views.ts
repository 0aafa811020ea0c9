/** Each machine for the page: its pictures, and what may happen in each state. */
import { machines } from '../../machines/catalogue.js'
import { type Chart, entered, leavesOf, outgoing, readChart } from '../../machines/chart.js'
import { effectKinds } from '../../machines/payment/effects.js'
import { guardWords } from '../docs/diagrams/drawing.js'
import { viewsOf } from '../docs/diagrams/views.js'
import { svgOf } from './svg.js'
import type { MachineView, NextStep } from './view-model.js'
import { beginningsOf } from './what-if.js'

/** Draws every picture, which takes about half a second. */
export function machineViews(): Promise<MachineView[]> {
  return Promise.all(machines.map(readChart).map(viewOf))
}

async function viewOf(chart: Chart): Promise<MachineView> {
  const pictures = viewsOf(chart).map(async view => {
    const { name, title, level, states, leftOut } = view
    const drawn = await svgOf(chart, view)
    return { name, title, level, isComplete: leftOut.length === 0, states, svg: drawn.slice(drawn.indexOf('<svg')) }
  })
  const leaves = leavesOf(chart)
  return {
    id: chart.id,
    description: chart.description,
    pictures: await Promise.all(pictures),
    descriptions: Object.fromEntries(leaves.map(({ path, description }) => [path, description])),
    next: Object.fromEntries(leaves.map(({ path }) => [path, nextSteps(chart, path)])),
    beginnings: beginningsOf(chart.id)
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
