/** docs/MACHINES.md, made from the machines. */
import {
  type AnswerRow,
  captureRows,
  deniedSaleRows,
  errorRows,
  httpRows,
  voidRows
} from '../../../machines/acquirer-answers.js'
import { machines } from '../../../machines/catalogue.js'
import { type Chart, type ChartTransition, entered, readChart } from '../../../machines/chart.js'
import { contradictions } from '../../../machines/payment/contradictions.js'
import { effectKinds } from '../../../machines/payment/effects.js'
import { filledPage, type Page, type Row, table, withoutRepeats } from '../markdown.js'
import { guardWords } from './drawing.js'
import { mermaidOf } from './mermaid.js'
import { viewsOf } from './views.js'

export function machinePage(): Page {
  return filledPage('docs/MACHINES.md', {
    answers: answerTable(),
    contradictions: contradictions.map(({ means }) => `- ${means}`).join('\n'),
    machines: machines.map(readChart).flatMap(machineSection).join('\n\n')
  })
}

/** What each answer of the acquirer proves (machines/acquirer-answers.ts). */
function answerTable(): string {
  const groups: readonly (readonly [string, readonly AnswerRow[]])[] = [
    ['return code of a denied sale', deniedSaleRows],
    ['return code of a capture', captureRows],
    ['return code of a void or refund', voidRows],
    ['error code', errorRows],
    ['HTTP status without an error code', httpRows]
  ]
  const rows = groups.flatMap(([name, group]) =>
    group.map(({ codes, proof, means }): Row => [name, codes, `\`${proof}\``, means])
  )
  return table(['Answer', 'Codes', 'Proves', 'Means'], withoutRepeats(rows))
}

function machineSection(chart: Chart): string[] {
  const { own, shared } = transitionRows(chart)
  const columns = ['State', 'Event, and when', 'Next, and effect', 'Meaning']
  return [
    `## ${chart.id}`,
    chart.description,
    ...viewsOf(chart)
      .filter(({ level, leftOut }) => level === 'detail' || leftOut.length > 0)
      .flatMap(view => [`### ${view.title}`, mermaidOf(chart, view)]),
    `### States of ${chart.id}`,
    table(
      ['State', 'Meaning'],
      chart.states.map(({ path, description, kind }) => [
        `\`${path}\``,
        kind === 'final' ? `${description} (End.)` : description
      ])
    ),
    `### Transitions of single states of ${chart.id}`,
    table(columns, withoutRepeats(own)),
    `### Transitions that states of ${chart.id} share`,
    table(columns, withoutRepeats(shared))
  ]
}

/** From so many states on, equal transitions are one row. */
const SHARED_BY_MIN = 2

/** Equal transitions of several states as one row; rows of the same states follow each other. */
function transitionRows(chart: Chart): { readonly own: Row[]; readonly shared: Row[] } {
  const statesOf = new Map<string, string[]>()
  const rows = chart.transitions.map(transition => {
    const cells = transitionCells(chart, transition)
    const key = cells.join('|')
    statesOf.set(key, [...(statesOf.get(key) ?? []), stateName(transition.source)])
    return { key, cells, source: stateName(transition.source) }
  })
  const isShared = (key: string): boolean => (statesOf.get(key) ?? []).length >= SHARED_BY_MIN
  const own = rows.filter(({ key }) => !isShared(key)).map(({ cells, source }): Row => [source, ...cells])
  const keys = [...new Set(rows.filter(({ key }) => isShared(key)).map(({ key }) => key))]
  const shared = keys.map((key): Row => [(statesOf.get(key) ?? []).join(' '), ...key.split('|')])
  const groups = [...new Set(shared.map(([states]) => states))]
  return { own, shared: groups.flatMap(states => shared.filter(row => row[0] === states)) }
}

function stateName(path: string): string {
  return path === '' ? 'any' : `\`${path}\``
}

function transitionCells(
  chart: Chart,
  { source, event, guard, target, actions, description }: ChartTransition
): string[] {
  const next = target === null ? source : entered(chart, target)
  const effect = actions.flatMap(action => effectKinds[action] ?? [])
  return [
    [`\`${event}\``, ...(guard === null ? [] : [guardWords(guard)])].join(' '),
    [next === source ? 'stays' : nextName(source, next), ...effect].join(', '),
    description
  ]
}

/** `….reconciling` for a state beside the one that is left. */
function nextName(source: string, next: string): string {
  const parent = source.split('.').slice(0, -1).join('.')
  return parent !== '' && next.startsWith(`${parent}.`) ? `\`….${next.slice(parent.length + 1)}\`` : `\`${next}\``
}
