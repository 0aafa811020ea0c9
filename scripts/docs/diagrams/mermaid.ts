/** A picture of a chart as Mermaid's `stateDiagram-v2`, which code hosts and editors draw. */
import type { Chart } from '../../../machines/chart.js'
import { type Arrow, drawingOf } from './drawing.js'
import type { ChartView } from './views.js'

/** The fence and its text. States stand side by side: Mermaid has no arrows between the insides of two states. */
export function mermaidOf(chart: Chart, view: ChartView): string {
  const { groups, elsewhere, start, arrows } = drawingOf(chart, view)
  const shown = [...groups.flatMap(({ boxes }) => boxes), ...elsewhere]
  const ends = groups.flatMap(({ boxes }) => boxes.filter(({ kind }) => kind === 'final'))
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...shown.filter(({ path }) => path.includes('.')).map(({ path }) => `  state "${path}" as ${idOf(path)}`),
    ...(start === null ? [] : [`  [*] --> ${idOf(start)}`]),
    ...arrows.map(line),
    ...ends.map(({ path }) => `  ${idOf(path)} --> [*]`),
    '```'
  ].join('\n')
}

function line({ from, to, reasons }: Arrow): string {
  return `  ${idOf(from)} --> ${idOf(to)}: ${reasons.join(', ')}`
}

function idOf(path: string): string {
  return path.replaceAll('.', '_')
}
