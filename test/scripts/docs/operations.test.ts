import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { metricGroups } from '../../../scripts/docs/metrics-page.js'

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const FILE = 'ops/alerts.yml'
const parsed: { groups: { rules: (Alert | { record: string; expr: string; labels?: object })[] }[] } = parse(
  readFileSync(FILE, 'utf8')
)
const rules = parsed.groups.flatMap(group => group.rules)
const alerts = rules.filter((rule): rule is Alert => 'alert' in rule)
const BOARD = 'ops/dashboard.json'
const { panels } = JSON.parse(readFileSync(BOARD, 'utf8')) as { panels: { id: number }[] }
const queries = [...dashboardQueries(), ...rules.map(({ expr }) => expr)]
const operations = readFileSync('docs/OPERATIONS.md', 'utf8')

/** What Prometheus adds to the series of a process: whether it could ask it, and where it is. */
const LABELS_OF_PROMETHEUS = ['job', 'instance']
/** Of the node exporter. */
const OF_DISKS = ['mountpoint', 'fstype']
const known = new Map([
  ...seriesLabels(),
  ['up', []],
  ['node_filesystem_avail_bytes', OF_DISKS],
  ['node_filesystem_size_bytes', OF_DISKS]
])
for (const rule of rules) {
  if ('record' in rule) known.set(rule.record, ['brand', ...Object.keys(rule.labels ?? {})])
}

describe('dashboards and alerts', () => {
  it('use only metrics that a process exports', () => {
    expect(queries.length).to.be.greaterThan(60)
    expect(queries.flatMap(seriesOf).filter(name => !known.has(name))).to.deep.equal([])
  })

  it('ask for no label that their series do not have', () => {
    const parts = queries.flatMap(query => query.split(' or '))
    const unknown = parts.flatMap(query => {
      const selected = [...query.matchAll(/([a-z_:]+)\{([^}]*)\}/g)].flatMap(([, series = '', inner = '']) =>
        [...inner.matchAll(/(\w+)[=!]/g)].map(([, label = '']) => ({ label, of: [series] }))
      )
      const grouped = [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
        labels.split(', ').map(label => ({ label, of: seriesOf(query) }))
      )
      return [...selected, ...grouped].filter(
        ({ label, of }) =>
          !LABELS_OF_PROMETHEUS.includes(label) && !of.every(series => known.get(series)?.includes(label))
      )
    })
    expect(unknown).to.deep.equal([])
  })

  it('select by job: metrics of other services change nothing', () => {
    const ofAnyJob = queries.flatMap(query =>
      [
        ...query.matchAll(
          /\b(?:(?:card_payments|nodejs|node|process)_\w+|up)\b(\{job=~"(?:card-payments\.\*|\$job)"[,}])?/g
        )
      ]
        .filter(([, selector]) => selector === undefined)
        .map(([series]) => `${series} in ${query}`)
    )
    expect(ofAnyJob).to.deep.equal([])
    const jobs = [...readFileSync('deploy/prometheus.yml', 'utf8').matchAll(/job_name: (\S+)/g)]
    for (const [, job] of jobs) expect(job).to.match(/^card-payments.*$/)
  })

  it('use every metric of ours: an unused one is not worth its cost', () => {
    const asked = new Set(queries.flatMap(seriesOf))
    const ours = metricGroups().flatMap(({ rows }) => rows.map(({ name }) => name))
    const unseen = ours.filter(name => ![name, `${name}_bucket`, `${name}_count`].some(series => asked.has(series)))
    expect(unseen).to.deep.equal([])
  })

  it('notice when a process that serves merchants is missing: an absent metric fires no other alert', () => {
    const processes = [...readFileSync('Procfile', 'utf8').matchAll(/^(\w+):/gm)].map(([, name = '']) => name)
    const missed = alerts.find(({ alert }) => alert === 'ProcessMissing')?.expr ?? ''
    const named = [...missed.matchAll(/absent\(card_payments_build_info\{[^}]*process="(\w+)"\}\)/g)]
    // The simulator, and what not every installation has.
    const needed = processes.filter(name => name !== 'network' && name !== 'archive')
    expect(named.map(([, name = '']) => name).sort()).to.deep.equal(needed.sort())
  })

  it('say of each alert how urgent it is, what happened, what to do, and where its section and panel are', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(labels['severity'], alert).to.match(/^(page|ticket)$/)
      expect(annotations['summary'], alert).to.match(/^\S.{10,110}[^.]$/)
      expect(annotations['description'], alert).to.match(/^\S.{40,}\.$/)
      expect(annotations['runbook_url'], alert).to.equal(
        `https://runbooks.example/OPERATIONS.md#${alert.toLowerCase()}`
      )
      const [, panel] =
        /^https:\/\/dashboards\.example\/d\/card-payments\?viewPanel=(\d+)$/.exec(annotations['dashboard_url'] ?? '') ??
        []
      expect(
        panels.map(({ id }) => id),
        alert
      ).to.include(Number(panel))
    }
  })

  it('stay few: 18 alerts, 12 panels, 32 metrics', () => {
    expect(alerts.length).to.be.at.most(18)
    expect(panels.length).to.be.at.most(12)
    const figures = metricGroups().flatMap(({ rows }) => rows.map(({ name }) => name))
    expect(new Set(figures).size).to.be.at.most(32)
  })

  it('have a section each in docs/OPERATIONS.md, and no other section exists', () => {
    const afterHeading = operations.slice(operations.indexOf('## Alerts'))
    const sections = [...afterHeading.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
    expect(sections.sort()).to.deep.equal(alerts.map(({ alert }) => alert).sort())
  })

  it('have the prefix, units of Prometheus, and meanings for what they show', () => {
    for (const { name, type, help } of metricGroups().flatMap(({ rows }) => rows)) {
      expect(name).to.match(/^card_payments_[a-z][a-z0-9_]*$/)
      expect(name.endsWith('_total'), name).to.equal(type === 'counter')
      if (type === 'histogram') expect(name).to.match(/_(seconds|bytes)$/)
      expect(help, name).to.match(/^[A-Z`].{10,}/)
    }
  })
})

function dashboardQueries(): string[] {
  return [...readFileSync(BOARD, 'utf8').matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, text = '']) =>
    JSON.parse(text)
  )
}

/** Names of series in a query: what is neither a word or function of PromQL, nor a label, a text, a range or a number. */
function seriesOf(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(by|on) \([^)]*\)/g, '')
  const words = [...bare.matchAll(/[a-z_][a-z0-9_:]*\b(?! *\()/g)].map(([word]) => word)
  return words.filter(word => !['by', 'on', 'or', 'and'].includes(word))
}

/** Every series that /metrics shows, with its labels: a histogram has three, and those of the Prometheus client count. */
function seriesLabels(): [string, readonly string[]][] {
  const rows = metricGroups('').flatMap(group => group.rows)
  return rows.flatMap(({ name, type, labels }): [string, readonly string[]][] =>
    type === 'histogram'
      ? [
          [`${name}_bucket`, [...labels, 'le']],
          [`${name}_sum`, labels],
          [`${name}_count`, labels]
        ]
      : [[name, labels]]
  )
}

const namesIn = (file: string): string[] =>
  readFileSync(file, 'utf8').match(/\bcard_payments_[a-z_]*[a-z]\b(?!\*)/g) ?? []
const isMetric = (name: string): boolean => !/^card_payments_(client|redis)$/.test(name)
const base = (name: string): string => name.replace(/_(bucket|sum|count)$/, '')

describe('names of metrics', () => {
  it('are those of METRICS.md, in all pages and monitoring files', () => {
    const files = execFileSync('git', ['ls-files', 'docs/*.md', 'README.md', 'ops', 'deploy'], { encoding: 'utf8' })
    const known = new Set(namesIn('docs/METRICS.md'))
    const used = files
      .trim()
      .split('\n')
      .filter(file => /\.(md|ya?ml|json)$/.test(file))
      .flatMap(file =>
        namesIn(file)
          .filter(isMetric)
          .map(name => ({ file, name }))
      )
    expect(used.length).to.be.greaterThan(50)
    expect(used.filter(({ name }) => !known.has(name) && !known.has(base(name)))).to.deep.equal([])
  })
})
