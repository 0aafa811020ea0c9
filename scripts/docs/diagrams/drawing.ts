/** What is on a picture: boxes and arrows, without their look. */
import { type Chart, type ChartState, type ChartTransition, entered } from '../../../machines/chart.js'
import { type ChartView, mainPath } from './views.js'

export interface Arrow {
  readonly from: string
  readonly to: string
  /** `sale captured [manual]`: the event, and its condition where that makes the difference. */
  readonly reasons: readonly string[]
  readonly isMain: boolean
}

export interface Drawing {
  /** Boxes by the state around them (null for none), in the order of the view. */
  readonly groups: readonly { readonly around: ChartState | null; readonly boxes: readonly ChartState[] }[]
  /** States of other pictures that arrows lead to. */
  readonly elsewhere: readonly ChartState[]
  /** The box in which a payment begins; null: it is not on this picture. */
  readonly start: string | null
  readonly arrows: readonly Arrow[]
}

export function drawingOf(chart: Chart, view: ChartView): Drawing {
  const shown = (path: string): string => (view.level === 'overview' ? topOf(path) : path)
  const steps = stepsOf(chart)
    .filter(({ transition: { event, guard, actions } }) =>
      [event, guard ?? '', ...actions].every(name => !view.leftOut.includes(name))
    )
    .map(step => ({ ...step, from: shown(step.from), to: shown(step.to) }))
    .filter(({ from }) => view.states.includes(topOf(from)))
  const arrows = arrowsOf(
    chart,
    steps.filter(({ from, to }) => from !== to)
  )
  const outside = [...new Set(arrows.map(({ to }) => to))].filter(path => !view.states.includes(topOf(path)))
  return {
    groups: view.states.map(top => groupOf(chart, view, top)),
    elsewhere: outside.map(path => stateAt(chart, path)),
    start: view.states.includes(topOf(chart.initial)) ? shown(chart.initial) : null,
    arrows
  }
}

export function topOf(path: string): string {
  return path.split('.')[0] ?? ''
}

/** `sale captured`: an event in the words of a picture. */
function eventWords(event: string): string {
  return event.toLowerCase().replaceAll('_', ' ')
}

/** `beyond horizon` for `isBeyondHorizon`. */
export function guardWords(guard: string): string {
  const words = guard.replace(/([A-Z])/g, ' $1').toLowerCase()
  return words.replace(/^(is|has) /, '')
}

interface Step {
  readonly from: string
  readonly to: string
  readonly transition: ChartTransition
}

/** Every transition from one innermost state to another. One that a compound state defines counts for each inside. */
function stepsOf(chart: Chart): Step[] {
  return chart.transitions
    .filter(({ source }) => source !== '')
    .flatMap(transition =>
      chart.states
        .filter(({ path, kind }) => kind === 'atomic' && `${path}.`.startsWith(`${transition.source}.`))
        .map(({ path }) => ({
          from: path,
          to: transition.target === null ? path : entered(chart, transition.target),
          transition
        }))
    )
}

/** Parallel arrows become one, but what went wrong is not mixed with what went well. */
function arrowsOf(chart: Chart, steps: readonly Step[]): Arrow[] {
  const merged = new Map<string, { step: Step; isMain: boolean; because: ChartTransition[] }>()
  for (const step of steps) {
    const { from, to, transition } = step
    const isFailure = transition.actions.includes('fail')
    const isOnMainPath = mainPath.some(([start, end]) => topOf(from) === start && topOf(to) === end)
    const key = `${from}>${to}>${isFailure}`
    const arrow = merged.get(key) ?? { step, isMain: isOnMainPath && !isFailure, because: [] }
    arrow.because.push(transition)
    merged.set(key, arrow)
  }
  return [...merged.values()].map(({ step: { from, to }, isMain, because }) => ({
    from,
    to,
    isMain,
    reasons: reasonsOf(chart, because)
  }))
}

/** Events under the same condition are named together: `sale captured, sale gone [due]`. */
function reasonsOf(chart: Chart, transitions: readonly ChartTransition[]): string[] {
  const conditions = new Map<string, string[]>()
  for (const transition of transitions) {
    const condition = conditionOf(chart, transition)
    const events = conditions.get(condition) ?? []
    const words = eventWords(transition.event)
    if (!events.includes(words)) events.push(words)
    conditions.set(condition, events)
  }
  return [...conditions].flatMap(([condition, events]) =>
    condition === '' ? events : [...events.slice(0, -1), `${events.at(-1)} [${condition}]`]
  )
}

/** Only where the condition makes the difference between two ways. */
function conditionOf(chart: Chart, { source, event, guard }: ChartTransition): string {
  const rivals = chart.transitions.filter(other => other.source === source && other.event === event)
  return guard === null || rivals.length === 1 ? '' : guardWords(guard)
}

function groupOf(chart: Chart, view: ChartView, top: string): Drawing['groups'][number] {
  const state = stateAt(chart, top)
  const children = chart.states.filter(({ parent }) => parent === top)
  const isOpen = view.level === 'detail' && children.length > 0
  return { around: isOpen ? state : null, boxes: isOpen ? children : [state] }
}

function stateAt(chart: Chart, path: string): ChartState {
  const state = chart.states.find(candidate => candidate.path === path)
  if (state === undefined) {
    throw new Error(`The machine ${chart.id} has no state ${path}; correct scripts/docs/diagrams/views.ts.`)
  }
  return state
}
