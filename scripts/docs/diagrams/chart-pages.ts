/** The files of docs/ that are made from the machines. A test fails while they differ from them. */
import { machines } from '../../../machines/catalogue.js'
import { type Chart, readChart } from '../../../machines/chart.js'
import type { RefusalCode } from '../../../machines/model.js'
import { errorCatalogue } from '../../../runtime/errors.js'
import { guardWords } from './drawing.js'
import { mermaidOf } from './mermaid.js'
import { svgOf } from './svg.js'
import { paymentTransitions, type StateRows } from './transitions.js'
import { viewsOf } from './views.js'

export interface Page {
  /** Relative to the checkout. */
  readonly path: string
  readonly content: string
}

const NOTICE = '<!-- Made by `npm run diagrams`. Change the machine, then run it again. -->'

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
    { path: 'docs/MACHINES.md', content: machinesPage(charts) },
    { path: 'docs/TRANSITIONS.md', content: transitionsPage(paymentTransitions()) }
  ]
}

function machinesPage(charts: readonly Chart[]): string {
  return [
    '# State machines',
    NOTICE,
    'Each machine is pure: it decides, and workers act. Green arrows are the way that most go; amber states wait for an ' +
      'answer that is not known yet; a double border is an end. `npm run inspect` shows the same pictures with live ' +
      'payments in them, [TRANSITIONS.md](TRANSITIONS.md) lists what every event does in every state of a payment.',
    ...charts.flatMap(machineSection),
    ''
  ].join('\n\n')
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

function transitionsPage(states: readonly StateRows[]): string {
  return [
    '# Transitions of a payment',
    NOTICE,
    'What every event does in every state. *When* is the condition, asked from top to bottom; *Effect* is the one call ' +
      'that the worker then makes to the card network; *Webhook* is the status that the merchant is told. An event that ' +
      'is refused changes nothing.',
    '## What merchants may ask',
    table(
      ['State', 'Capture', 'Cancel or refund'],
      states.map(state => [`\`${state.state}\``, commandCell(state, 'CAPTURE'), commandCell(state, 'CANCEL')])
    ),
    ...states.flatMap(stateSection),
    ''
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
    row.told === null ? '' : `\`${row.told}\``,
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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
