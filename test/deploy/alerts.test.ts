/** Runs the rules of ops/alerts.yml in Prometheus' own tester, beside another service with series of the same names. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { runToEnd } from '../../scripts/start/apt-packages.js'
import { obtainProgram } from '../runner/debian-program.js'
import { alertCases, quietCases, type Series } from './alert-cases.js'

const RULES = resolve('ops/alerts.yml')
const ALERTMANAGER = resolve('deploy/alertmanager.yml')

const healthy: Series = Object.fromEntries(
  [
    ...['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks'].map(
      process => `card_payments_build_info{process="${process}"}`
    ),
    'card_payments_workers_alive'
  ].map(series => [series, '1x480'])
)

/** What the installation tells, and other services by their jobs; which alerts fire at the time `at`. */
interface Scene {
  readonly name: string
  readonly ours: Series
  readonly others: Readonly<Record<string, Series>>
  readonly at: readonly string[]
  readonly firing: string
  readonly isExpected: boolean
}

/** A scene as promtool reads it. */
function testOf({ name, ours, others, at, firing, isExpected }: Scene): object {
  const jobs = Object.entries({ 'card-payments': ours, ...others })
  return {
    name,
    interval: '1m',
    input_series: jobs.flatMap(([job, series]) =>
      Object.entries(series).map(([name, values]) => ({ series: withJob(name, job), values }))
    ),
    promql_expr_test: at.map(time => ({
      expr: firing,
      eval_time: time,
      exp_samples: isExpected ? [{ labels: '{}', value: 1 }] : []
    }))
  }
}

function withJob(series: string, job: string): string {
  const [name, labels = '}'] = series.split('{')
  return `${name}{job="${job}"${labels === '}' ? '' : ','}${labels}`
}

const ANY = 'count by (alertname) (ALERTS)'

const scenes: readonly Scene[] = [
  ...alertCases.map(({ alert, series, at, without, elsewhere }): Scene => {
    const kept = Object.entries(healthy).filter(([series]) => series !== without)
    return {
      name: `${alert} fires`,
      ours: { ...Object.fromEntries(kept), ...series },
      others: { 'another-service': elsewhere ?? {} },
      at: [at],
      firing: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`,
      isExpected: true
    }
  }),
  ...Object.entries(quietCases).map(([name, { series, at }]): Scene => {
    return { name, ours: { ...healthy, ...series }, others: {}, at: [at], firing: ANY, isExpected: false }
  }),
  {
    name: 'other services fire nothing',
    ours: healthy,
    // Each case is a service of its own: several have the same series.
    others: Object.fromEntries(alertCases.map(({ series }, index) => [`another-${index}`, series])),
    at: [...new Set(alertCases.map(({ at }) => at))],
    firing: ANY,
    isExpected: false
  }
]

describe('the rules of ops/alerts.yml, run by promtool', () => {
  const dir = mkdtempSync(join(tmpdir(), 'alerts-'))
  let promtool: string
  let amtool: string
  before(async () => {
    const obtain = async (name: 'promtool' | 'amtool'): Promise<string> =>
      (await obtainProgram(name, '.vendor', line => process.stderr.write(`${line}\n`))).file
    promtool = await obtain('promtool')
    amtool = await obtain('amtool')
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  it('are well formed', async () => {
    expect(await runToEnd(promtool, ['check', 'rules', RULES])).to.contain('SUCCESS')
  })

  it('are read by the configurations that are shipped with them', async () => {
    cpSync(RULES, join(dir, 'alerts.yml'))
    for (const name of ['prometheus.yml', 'prometheus-kubernetes.yml']) {
      const shipped = readFileSync(join('deploy', name), 'utf8')
      // The build of Debian finds no pods: it ends at a configuration that asks for it.
      writeFileSync(join(dir, name), shipped.replace(/^ +kubernetes_sd_configs: .*$/m, ''))
      if (name === 'prometheus.yml') expect(readFileSync(join(dir, name), 'utf8')).to.equal(shipped)
      expect(await runToEnd(promtool, ['check', 'config', join(dir, name)])).to.contain('1 rule files found')
    }
    expect(await runToEnd(amtool, ['check-config', ALERTMANAGER])).to.contain('2 receivers')
  })

  it('reach the operators who look now, or those who look today', async () => {
    for (const [severity, receiver] of [
      ['page', 'pages'],
      ['ticket', 'tickets']
    ] as const) {
      const route = ['config', 'routes', 'test', `--config.file=${ALERTMANAGER}`, `severity=${severity}`]
      expect((await runToEnd(amtool, route)).trim()).to.equal(receiver)
    }
  })

  it('have a case for each alert', () => {
    const alerts = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)$/gm)].map(([, name = '']) => name)
    expect([...new Set(alertCases.map(({ alert }) => alert))].sort()).to.deep.equal(alerts.sort())
  })

  it('fire when they should, and for nothing else', async () => {
    const file = join(dir, 'tests.json')
    const tests = scenes.map(testOf)
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
    // The report is on standard output, of failures too.
    const report = await runToEnd('sh', ['-c', '"$0" test rules "$1" 2>&1 || true', promtool, file])
    if (!/SUCCESS\s*$/.test(report)) throw new Error(report)
  })
})
