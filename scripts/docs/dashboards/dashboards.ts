/** The Grafana dashboards, from one entry per panel. Import a file of `ops/dashboards/` and choose the Prometheus. */
import { businessRows } from './business.js'
import { operatorRows } from './operators.js'
import type { Panel, Row } from './panel.js'

const WIDTH = 24
const HEIGHT = 8
const DATASOURCE = { type: 'prometheus', uid: '$datasource' }
/** Of every figure that a process tells: other services have `nodejs_…` and `process_…` as well. */
const OUR_SERIES = /\b((?:card_payments|nodejs|process)_\w+)(?:\{([^}]*)\})?/g

/** Path of each file, relative to the checkout, and its content. */
export function dashboardFiles(): { path: string; content: string }[] {
  return [
    fileOf('operators', 'Card payments: operators', 'now-1h', operatorRows),
    fileOf('business', 'Card payments: business', 'now-24h', businessRows)
  ]
}

function fileOf(name: string, title: string, from: string, rows: readonly Row[]): { path: string; content: string } {
  const panels = rows.flatMap(([heading, own], row) => {
    const y = row * (HEIGHT + 1)
    const head = { type: 'row', title: heading, collapsed: false, panels: [], gridPos: { x: 0, y, w: WIDTH, h: 1 } }
    const w = Math.floor(WIDTH / own.length)
    return [head, ...own.map((panel, column) => panelOf(panel, { x: column * w, y: y + 1, w, h: HEIGHT }))]
  })
  const dashboard = {
    title,
    uid: `card-payments-${name}`,
    editable: true,
    refresh: '1m',
    schemaVersion: 39,
    tags: ['payments'],
    templating: { list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }, jobs] },
    time: { from, to: 'now' },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel }))
  }
  return { path: `ops/dashboards/${name}.json`, content: `${JSON.stringify(dashboard, null, 2)}\n` }
}

/** The jobs of one installation, where a Prometheus scrapes several. */
const jobs = {
  name: 'job',
  label: 'Job',
  type: 'query',
  datasource: DATASOURCE,
  query: 'label_values(card_payments_build_info, job)',
  refresh: 2,
  multi: true,
  includeAll: true,
  current: { text: 'All', value: '$__all' }
}

function panelOf({ title, description, unit, type, lines }: Panel, gridPos: object): object {
  return {
    type: type ?? 'timeseries',
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10 } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: lines.map(([query, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr: ofChosenJobs(query),
      legendFormat
    }))
  }
}

function ofChosenJobs(query: string): string {
  return query.replace(OUR_SERIES, (_, series: string, labels?: string) => {
    return `${series}{job=~"$job"${labels === undefined ? '' : `,${labels}`}}`
  })
}
