/** docs/MACHINES.md and its pictures, made from the machines. */
import { machines } from '../../../machines/catalogue.js'
import { type Chart, type ChartTransition, entered, readChart } from '../../../machines/chart.js'
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
  return [...pictures, filledPage('docs/MACHINES.md', { machines: charts.flatMap(machineSection).join('\n\n') })]
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
