/** Draws charts. Graphviz runs inside this process: the same input gives the same picture on every machine. */
import { instance } from '@viz-js/viz'
import type { Chart } from '../../../machines/chart.js'
import { dotOf } from './dot.js'
import type { ChartView } from './views.js'

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
