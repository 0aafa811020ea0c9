/** What Prometheus is told: whom to scrape, and what alert rules and the dashboard ask it for. */
import { readFileSync } from 'node:fs'
import { isRecord } from '../../../runtime/json.js'

const WORDS_OF_PROMQL = new Set(
  'sum max min count by on or and rate increase absent histogram_quantile max_over_time le job instance'.split(' ')
)

/** Names of series in a query: what is neither a word of the language, nor a label, a text, a range or a number. */
export function seriesOf(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\bby \([^)]*\)/g, '')
  return [...bare.matchAll(/[a-z_][a-z0-9_]*/g)].map(([name]) => name).filter(name => !WORDS_OF_PROMQL.has(name))
}

/** The series of each alert of a file such as ops/alerts.yml, by its name. Throws when there is none. */
export function alertsIn(file: string): Map<string, string[]> {
  const rules = readFileSync(file, 'utf8').matchAll(/- alert: (\w+)\n\s+expr: (.*)\n/g)
  const alerts = new Map([...rules].map(([, name = '', query = '']) => [name, seriesOf(query)]))
  if (alerts.size === 0) throw new Error(`${file} has no alert rules like those of ops/alerts.yml.`)
  return alerts
}

/** The series of a dashboard such as ops/grafana-dashboard.json. */
export function dashboardSeries(file: string): string[] {
  const queries: string[] = []
  JSON.parse(readFileSync(file, 'utf8'), (_, value: unknown) => {
    if (isRecord(value) && typeof value['expr'] === 'string') queries.push(value['expr'])
    return value
  })
  return [...new Set(queries.flatMap(seriesOf))]
}

/** The addresses of the static targets of a configuration such as deploy/prometheus.yml. Throws when there is none. */
export function targetsIn(file: string): string[] {
  const lines = readFileSync(file, 'utf8').matchAll(/^\s+- ['"]?([\w.:[\]-]+:\d+)\b/gm)
  const targets = [...lines].map(([, target]) => `http://${target}`)
  if (targets.length === 0) throw new Error(`${file} has no static targets, one on a line ("- 10.0.0.1:9011").`)
  return targets
}
