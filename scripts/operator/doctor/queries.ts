/** What Prometheus is configured with: whom to scrape, and what alert rules and the dashboard ask it for. */
import { readFileSync } from 'node:fs'
import { isRecord } from '../../../runtime/json.js'

const WORDS_OF_PROMQL = new Set('by on or and'.split(' '))

/** Names of series in a query: what is neither a word or function of the language, nor a label, a text, a range or a number. */
export function seriesOf(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(by|on) \([^)]*\)/g, '')
  return [...bare.matchAll(/[a-z_][a-z0-9_:]*\b(?! *\()/g)]
    .map(([name]) => name)
    .filter(name => !WORDS_OF_PROMQL.has(name))
}

/** A rule of a file such as ops/alerts.yml: an alert, or a series that is recorded for alerts. */
export interface Rule {
  readonly kind: 'alert' | 'record'
  readonly name: string
  readonly query: string
}

/** The rules of such a file. Throws when it has none. */
export function rulesIn(file: string): Rule[] {
  const found = readFileSync(file, 'utf8').matchAll(/- (alert|record): ([\w:]+)\n\s+expr: (.*)\n/g)
  const rules = [...found].map(([, kind, name = '', query = '']): Rule => {
    return { kind: kind === 'alert' ? 'alert' : 'record', name, query }
  })
  if (rules.length === 0) throw new Error(`${file} has no rules like those of ops/alerts.yml.`)
  return rules
}

/** The queries of a dashboard such as ops/dashboard.json. */
export function dashboardQueries(file: string): string[] {
  const queries: string[] = []
  JSON.parse(readFileSync(file, 'utf8'), (_, value: unknown) => {
    if (isRecord(value) && typeof value['expr'] === 'string') queries.push(value['expr'])
    return value
  })
  return queries
}

/** The addresses of the static targets of a configuration such as deploy/prometheus.yml. Throws when there is none. */
export function targetsIn(file: string): string[] {
  const lines = readFileSync(file, 'utf8').matchAll(/^\s+- ['"]?([\w.:[\]-]+:\d+)\b/gm)
  const targets = [...lines].map(([, target]) => `http://${target}`)
  if (targets.length === 0) throw new Error(`${file} has no static targets, one on a line ("- 10.0.0.1:9011").`)
  return targets
}
