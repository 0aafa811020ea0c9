import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { dashboardQueries } from '../../../scripts/docs/dashboard.js'
import { metricGroups, seriesNames } from '../../../scripts/docs/metrics-page.js'
import { seriesOf } from '../../../scripts/operator/doctor/queries.js'

/** Made by Prometheus itself: whether it could ask a process. */
const SERIES_OF_PROMETHEUS = new Set(['up'])

const alertsFile = readFileSync('ops/alerts.yml', 'utf8')
const alerts = [...alertsFile.matchAll(/- alert: (\w+)\n\s+expr: (.*)\n/g)].map(([, name = '', query = '']) => ({
  name,
  query
}))
const operations = readFileSync('docs/OPERATIONS.md', 'utf8')
const known = seriesNames()

describe('dashboard and alerts', () => {
  it('ask for nothing that no process tells', () => {
    const asked = [...dashboardQueries(), ...alerts.map(({ query }) => query)]
    expect(asked.length).to.be.greaterThan(50)
    const unknown = asked.flatMap(query =>
      seriesOf(query).filter(name => !known.has(name) && !SERIES_OF_PROMETHEUS.has(name))
    )
    expect(unknown).to.deep.equal([])
  })

  it('leave out no figure of ours: an unused one is not worth its cost', () => {
    const asked = new Set([...dashboardQueries(), ...alerts.map(({ query }) => query)].flatMap(seriesOf))
    const ours = metricGroups().flatMap(({ rows }) => rows.map(({ name }) => name))
    const unseen = ours.filter(name => ![name, `${name}_bucket`, `${name}_count`].some(series => asked.has(series)))
    expect(unseen).to.deep.equal([])
  })

  it('miss every process that serves a merchant: an absent figure fires no other alert', () => {
    const processes = [...readFileSync('Procfile', 'utf8').matchAll(/^(\w+):/gm)].map(([, name = '']) => name)
    const missed = alerts.find(({ name }) => name === 'ProcessMissing')?.query ?? ''
    const named = [...missed.matchAll(/absent\(build_info\{process="(\w+)"\}\)/g)].map(([, name = '']) => name)
    expect(named.sort()).to.deep.equal(processes.filter(name => name !== 'network').sort())
  })

  it('are well formed: every alert has a severity and a summary', () => {
    expect(alerts.length).to.be.greaterThan(15)
    expect(alertsFile.match(/severity: (page|ticket) \}/g)?.length).to.equal(alerts.length)
    expect(alertsFile.match(/annotations: \{ summary: /g)?.length).to.equal(alerts.length)
  })

  it('have a section each in docs/OPERATIONS.md, which has none for others', () => {
    const sections = [...operations.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
    expect(sections.sort()).to.deep.equal(alerts.map(({ name }) => name).sort())
  })

  it('have names and meanings for what they show', () => {
    for (const { name, help } of metricGroups().flatMap(({ rows }) => rows)) {
      expect(name).to.match(/^[a-z][a-z0-9_]*$/)
      expect(help, name).to.match(/^[A-Z`].{10,}/)
    }
  })
})
