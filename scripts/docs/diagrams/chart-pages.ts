/** docs/MACHINES.md and its pictures, made from the machines. */
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
import { filledPage, type Page, table } from '../markdown.js'
import { guardWords } from './drawing.js'
import { svgOf } from './svg.js'
import { viewsOf } from './views.js'

/** All of them. Takes about a second: every picture is laid out anew. */
export async function machinePages(): Promise<Page[]> {
  const charts = machines.map(readChart)
  const pictures = await Promise.all(
    charts.flatMap(chart =>
      viewsOf(chart).map(async view => ({
        path: `docs/machines/${view.name}.svg`,
        content: await svgOf(chart, view)
      }))
    )
  )
  const page = filledPage('docs/MACHINES.md', {
    answers: answerTable(),
    contradictions: contradictions.map(({ means }) => `- ${means}`).join('\n'),
    machines: charts.flatMap(machineSection).join('\n\n')
  })
  return [...pictures, page]
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
  return table(
    ['Answer', 'Codes', 'Proves', 'Means'],
    groups.flatMap(([name, rows]) => rows.map(({ codes, proof, means }) => [name, codes, `\`${proof}\``, means]))
  )
}

function machineSection(chart: Chart): string[] {
  return [
    `## ${chart.id}`,
    chart.description,
    ...viewsOf(chart).flatMap(({ title, name }) => [`### ${title}`, `![${title}](machines/${name}.svg)`]),
    `### States of ${chart.id}`,
    table(
      ['State', 'Meaning', 'Tags'],
      chart.states.map(({ path, description, kind, tags }) => [
        `\`${path}\``,
        kind === 'final' ? `${description} (End.)` : description,
        tags.map(tag => `\`${tag}\``).join(', ')
      ])
    ),
    `### Transitions of ${chart.id}`,
    table(
      ['State', 'Event', 'When', 'Next', 'Effect', 'Meaning'],
      chart.transitions.map(transition => transitionRow(chart, transition))
    )
  ]
}

function transitionRow(
  chart: Chart,
  { source, event, guard, target, actions, description }: ChartTransition
): string[] {
  const next = target === null ? source : entered(chart, target)
  return [
    source === '' ? 'any' : `\`${source}\``,
    `\`${event}\``,
    guard === null ? '' : guardWords(guard),
    next === source ? 'stays' : `\`${next}\``,
    actions.flatMap(action => effectKinds[action] ?? []).join(),
    description
  ]
}
