/** A machine as a Mermaid state diagram: a text that many readers of Markdown draw by themselves. */
import { type Chart, type ChartState, entered } from '../../../machines/chart.js'
import { eventWords } from './drawing.js'

/** Text of a `stateDiagram-v2`, without the fence around it. */
export function mermaidOf(chart: Chart): string {
  return [
    'stateDiagram-v2',
    `  [*] --> ${nameOf(chart.initial)}`,
    ...chart.states.filter(({ parent }) => parent === null).flatMap(state => stateLines(chart, state)),
    ...arrowLines(chart),
    ...chart.states
      .filter(({ kind, parent }) => kind === 'final' && parent === null)
      .map(({ path }) => `  ${nameOf(path)} --> [*]`)
  ].join('\n')
}

function stateLines(chart: Chart, { path }: ChartState): string[] {
  const children = chart.states.filter(({ parent }) => parent === path)
  if (children.length === 0) return []
  const names = children.map(child => `    state "${child.path.slice(path.length + 1)}" as ${nameOf(child.path)}`)
  return [`  state ${nameOf(path)} {`, ...names, '  }']
}

/** Only changes of state, one arrow for each pair. */
function arrowLines(chart: Chart): string[] {
  const arrows = new Map<string, string[]>()
  for (const { source, target, event } of chart.transitions) {
    if (source === '' || target === null) continue
    const [from, to] = [nameOf(source), nameOf(entered(chart, target))]
    if (from === to) continue
    const events = arrows.get(`${from} --> ${to}`) ?? []
    if (!events.includes(eventWords(event))) events.push(eventWords(event))
    arrows.set(`${from} --> ${to}`, events)
  }
  return [...arrows].map(([arrow, events]) => `  ${arrow}: ${events.join(', ')}`)
}

/** A dot means something else to Mermaid. */
function nameOf(path: string): string {
  return path.replaceAll('.', '_')
}
