/** The files of docs/ that are made from the machines. A test fails while they differ from them. */
import { machines } from '../../../machines/catalogue.js'
import { type Chart, readChart } from '../../../machines/chart.js'
import type { RefusalCode } from '../../../machines/model.js'
import { errorCatalogue } from '../../../runtime/errors.js'
import { filledPage, type Page } from '../filled-page.js'
import { table } from '../table.js'
import { guardWords } from './drawing.js'
import { mermaidOf } from './mermaid.js'
import { svgOf } from './svg.js'
import { paymentTransitions, type StateRows } from './transitions.js'
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
  return [
    ...pictures,
    filledPage('docs/MACHINES.md', { machines: charts.flatMap(machineSection).join('\n\n') }),
    filledPage('docs/TRANSITIONS.md', { transitions: transitionSections(paymentTransitions()) })
  ]
}

function machineSection(chart: Chart): string[] {
  return [
    `## ${chart.id}`,
    chart.description,
    ...viewsOf(chart).flatMap(({ title, name }) => [`### ${title}`, `![${title}](machines/${name}.svg)`]),
    '### States',
    table(
      ['State', 'Meaning', 'Tags'],
      chart.states.map(({ path, description, kind, tags }) => [
        `\`${path}\``,
        kind === 'final' ? `${description} (End.)` : description,
        tags.map(tag => `\`${tag}\``).join(', ')
      ])
    ),
    '### As Mermaid',
    `\`\`\`mermaid\n${mermaidOf(chart)}\n\`\`\``
  ]
}

function transitionSections(states: readonly StateRows[]): string {
  return [
    '## What merchants may ask',
    table(
      ['State', 'Capture', 'Cancel or refund'],
      states.map(state => [`\`${state.state}\``, commandCell(state, 'CAPTURE'), commandCell(state, 'CANCEL')])
    ),
    ...states.flatMap(stateSection)
  ].join('\n\n')
}

function commandCell({ taken, refused }: StateRows, event: string): string {
  const next = taken.filter(row => row.event === event).map(row => `\`${row.next}\``)
  const codes = refused.filter(row => row.event === event).flatMap(row => row.codes.map(refusalText))
  return [...next, ...codes].join(', or ')
}

function stateSection({ state, description, taken, refused }: StateRows): string[] {
  const rows = taken.map(row => [
    `\`${row.event}\``,
    row.guard === null ? '' : guardWords(row.guard),
    row.next === state ? 'stays' : `\`${row.next}\``,
    row.effect ?? '',
    row.sent === null ? '' : `\`${row.sent}\``,
    row.description
  ])
  const lines = refused.map(({ event, codes }) =>
    isCommand(event) ? `\`${event}\` (${codes.map(refusalText).join(', ')})` : `\`${event}\``
  )
  return [
    `## \`${state}\``,
    description,
    rows.length === 0 ? 'Nothing happens any more.' : table(['Event', 'When', 'Next', 'Effect', 'Webhook', ''], rows),
    lines.length === 0 ? 'Nothing is refused.' : `Refused: ${lines.join(', ')}.`
  ]
}

/** Only merchants see a reason; a refused late answer or wake-up needs none. */
function isCommand(event: string): boolean {
  return event === 'CAPTURE' || event === 'CANCEL'
}

/** `409 invalid_state`, as a merchant would get it. */
function refusalText(code: RefusalCode): string {
  const spec: { status: number; publicCode?: string } = errorCatalogue[code]
  return `${spec.status} \`${spec.publicCode ?? code}\``
}
