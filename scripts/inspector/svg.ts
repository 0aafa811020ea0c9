/**
 * Draws charts: Graphviz lays them out inside this process, so the same input gives the same picture on every machine.
 * Ids and classes survive into the SVG: the inspector highlights states by them.
 */
import { instance } from '@viz-js/viz'
import type { Chart, ChartState } from '../../machines/chart.js'
import { type Arrow, drawingOf, topOf } from '../docs/diagrams/drawing.js'
import { type ChartView, type Tone, tones } from '../docs/diagrams/views.js'

const INK = '#1f2933'
const FAINT = '#616e7c'
const MAIN = '#1b7f4d'
const FILLS: Readonly<Record<Tone, string>> = { good: '#e3f6ea', doubt: '#fff3d6', bad: '#fde4e1', plain: '#eef2f7' }
const BORDERS: Readonly<Record<Tone, string>> = { good: '#1b7f4d', doubt: '#b7791f', bad: '#b83227', plain: '#52606d' }
/** Inches between neighbours: a group needs room for its name, an overview has to fit on a screen. */
const NODE_GAPS: Readonly<Record<ChartView['level'], number>> = { overview: 0.15, detail: 0.3 }
/** Longest line at an arrow, in characters. */
const ARROW_WIDTH = 18

/**
 * The picture of one view as an SVG document. Texts get a little less than the room that was laid out for them: the font
 * of the reader may be a wider one.
 */
export async function svgOf(chart: Chart, view: ChartView): Promise<string> {
  const graphviz = await instance()
  const drawn = graphviz.renderString(dotOf(chart, view), { format: 'svg' })
  return (
    drawn
      .replace(/<!--[\s\S]*?-->\n?/g, '')
      .replace(/<title>.*?<\/title>\n?/g, '')
      // Graphviz wraps a box with a tooltip into a link that leads nowhere. A title shows the same text.
      .replace(/<g id="a_[^"]*"><a xlink:title="([^"]*)">\n([\s\S]*?)<\/a>\n<\/g>\n/g, '<title>$1</title>\n$2')
      .replaceAll('font-family="Helvetica,sans-Serif"', 'font-family="Helvetica,Arial,Liberation Sans,sans-serif"')
      .replace(/font-size="(\d+)\.00"/g, (_, size: string) => `font-size="${Number(size) - 2}"`)
  )
}

/** Text of the picture in the DOT language. */
function dotOf(chart: Chart, view: ChartView): string {
  const { groups, elsewhere, start, arrows } = drawingOf(chart, view)
  return [
    `digraph ${quoted(view.name)} {`,
    `graph [rankdir=${view.direction} bgcolor="white" pad=0.1 nodesep=${NODE_GAPS[view.level]} ranksep=0.4 fontname="Helvetica" newrank=true]`,
    `node [shape=box style="rounded,filled" fontname="Helvetica" fontsize=15 fontcolor="${INK}" margin="0.18,0.09"]`,
    `edge [fontname="Helvetica" fontsize=13 fontcolor="${FAINT}" color="#9aa5b1" arrowsize=0.7]`,
    start === null ? '' : startMark(start),
    ...groups.map(({ around, boxes }) => {
      const nodes = boxes.map(node)
      return around === null ? nodes.join('\n') : cluster(around.path, nodes)
    }),
    ...elsewhere.map(({ path }) => distantNode(path)),
    ...view.rows.flatMap(row),
    ...arrows.map(edge),
    '}',
    ''
  ].join('\n')
}

function startMark(path: string): string {
  const dot = `shape=circle width=0.16 height=0.16 fixedsize=true label="" style=filled fillcolor="${INK}"`
  return `start [${dot}]\nstart -> ${quoted(path)} [color="${INK}"]`
}

function node(state: ChartState): string {
  const tone = tones[state.path] ?? 'plain'
  const border = `color="${BORDERS[tone]}" fillcolor="${FILLS[tone]}" peripheries=${state.kind === 'final' ? 2 : 1}`
  const name = state.parent === null ? state.path : state.path.slice(state.parent.length + 1)
  const names = `id=${quoted(`state:${state.path}`)} class="state" tooltip=${quoted(state.description)}`
  return `${quoted(state.path)} [label=${quoted(name)} ${border} ${names}]`
}

function cluster(path: string, nodes: readonly string[]): string {
  const look = `labeljust=l fontsize=15 fontcolor="${INK}" style="rounded" color="#cbd2d9" bgcolor="#fafbfc" margin=14`
  return [
    `subgraph ${quoted(`cluster_${path}`)} {`,
    `graph [label=${quoted(path)} ${look} id=${quoted(`group:${path}`)} class="group"]`,
    ...nodes,
    '}'
  ].join('\n')
}

/** A state of another picture: its status is enough. */
function distantNode(path: string): string {
  const look = `style="rounded,dashed" color="${FAINT}" fontcolor="${FAINT}" fontsize=13`
  return `${quoted(path)} [label=${quoted(topOf(path))} ${look} id=${quoted(`elsewhere:${path}`)} class="elsewhere"]`
}

/** States side by side, from left to right. */
function row(states: readonly string[]): string[] {
  const inOrder = states.map(quoted).join(' -> ')
  return [`{ rank=same; ${states.map(quoted).join('; ')} }`, states.length > 1 ? `${inOrder} [style=invis]` : '']
}

function edge({ from, to, reasons, isMain }: Arrow): string {
  // Between reasons, and before a condition.
  const label = quoted(wrapped(reasons.join(', ').split(/(?<=,) | (?=\[)/)).join('\n'))
  const look = isMain ? `color="${MAIN}" fontcolor="${MAIN}" penwidth=2.4 weight=5` : ''
  return `${quoted(from)} -> ${quoted(to)} [label=${label} ${look} id=${quoted(`arrow:${from}>${to}`)} class="arrow"]`
}

function wrapped(parts: readonly string[]): string[] {
  const lines: string[] = []
  for (const part of parts) {
    const last = lines[lines.length - 1]
    if (last === undefined) lines.push(part)
    else if (last.length + part.length >= ARROW_WIDTH) lines.push(part)
    else lines[lines.length - 1] = `${last} ${part}`
  }
  return lines
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}
