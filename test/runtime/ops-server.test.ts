import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { Registry, register } from 'prom-client'
import { readConfig } from '../../runtime/config.js'
import { CannotAsk, type Check, healthOf } from '../../runtime/health.js'
import { createLogger } from '../../runtime/log.js'
import { publishFigures } from '../../runtime/metrics.js'
import { listen, type OpsServer, startOpsServer } from '../../runtime/ops-server.js'
import { untilFast } from '../support/conditions.js'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
/** Long, so that two checks one after the other are told from two at once on a machine that pauses. */
const CHECK_TIMEOUT_MS = 1_000

describe('a server that cannot listen', () => {
  it('says which address it wanted, why it does not get it, and which setting to change', async () => {
    const [first, second] = [createServer(), createServer()]
    await listen(first, 0, '127.0.0.1')
    const { port } = first.address() as AddressInfo
    const variables = { port: 'OPS_PORT', host: 'OPS_HOST' }
    const refused = await listen(second, port, '127.0.0.1', variables).then(String, String)
    expect(refused).to.match(/Can't listen on 127\.0\.0\.1, port \d+ \(EADDRINUSE\)\. Another process .* set OPS_PORT/)
    for (const host of ['[::1]', '192.0.2.1']) {
      const reason = await listen(second, 0, host, variables).then(String, String)
      expect(reason, host).to.contain(`Can't listen on ${host}, port 0`).and.to.contain('Set OPS_HOST to an address')
    }
    first.close()
  })
})

describe('the ops server of a process whose servers are silent', () => {
  let ops: OpsServer
  const silent = (): Promise<undefined> => pause(60_000, undefined, { ref: false })
  const checks = new Map<string, Check>([
    ['durability', silent],
    ['memory-only redis', silent],
    ['rounds', () => 'the last round failed'],
    ['broken', () => Promise.reject(new Error('the reason'))],
    ['sound', () => undefined]
  ])
  before(async () => {
    register.clear()
    ops = await startOpsServer({
      name: 'test',
      config: readConfig({ SERVICE_ENV: 'test', OPS_PORT: '0' }),
      log: createLogger('test', 'silent'),
      conditions: { problems: checks, warnings: new Map() },
      isStopping: () => false,
      checkTimeoutMs: CHECK_TIMEOUT_MS
    })
    ops.started()
  })
  after(async () => {
    await ops.stop()
    register.clear()
  })

  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`http://127.0.0.1:${ops.port}${path}`)
    return { status: answer.status, text: await answer.text() }
  }

  it('reports its version in /healthz and /metrics', async () => {
    expect(JSON.parse((await get('/healthz')).text)).to.deep.equal({ status: 'ok', process: 'test', version })
    const figure = `card_payments_build_info{process="test",version="${version}",node="${process.version}"} 1`
    expect((await get('/metrics')).text).to.contain(figure)
  })

  it('answers 503 within the time of one check, with a sentence for each failed one', async () => {
    const { status, text } = await untilFast('it answers', 1.8 * CHECK_TIMEOUT_MS, () => get('/readyz'))
    expect(status).to.equal(503)
    expect(JSON.parse(text).problems).to.deep.equal({
      durability: `no answer within ${CHECK_TIMEOUT_MS} ms`,
      'memory-only redis': `no answer within ${CHECK_TIMEOUT_MS} ms`,
      rounds: 'the last round failed',
      broken: 'the reason'
    })
  })

  it('answers a scrape within that time, before Prometheus gives up', async () => {
    const { text } = await untilFast('it answers', 1.8 * CHECK_TIMEOUT_MS, () => get('/metrics'))
    expect(text).to.match(/^card_payments_process_ready 0$/m)
  })
})

describe('a server that checks cannot ask', () => {
  const cannotAsk = (server: string, words: string) => () => Promise.reject(new CannotAsk(server, words))
  const problems = new Map<string, Check>([
    ['version', cannotAsk('durable redis', 'no answer in time')],
    ['keys', cannotAsk('durable redis', 'no connection')],
    ['rounds', () => 'the last round failed']
  ])
  const warnings = new Map<string, Check>([
    ['replicas', cannotAsk('durable redis', 'no connection')],
    ['tokens', cannotAsk('memory-only redis', 'down')],
    ['locks', cannotAsk('memory-only redis', 'down')]
  ])

  it('is reported once for all checks that need it', async () => {
    expect(await healthOf({ problems, warnings })).to.deep.equal({
      problems: { 'durable redis': 'no answer in time', rounds: 'the last round failed' },
      warnings: { 'memory-only redis': 'down' }
    })
  })
})

describe('the ops server of a process with a warning', () => {
  let ops: OpsServer
  let warning: string | undefined = 'one of two replicas is away'
  const lines: { level: string; part?: string; reason?: string; msg: string }[] = []
  const log = createLogger('test', 'info', { write: text => void lines.push(JSON.parse(text)) })
  const changes = (): string[] =>
    lines.filter(line => line.part).map(({ level, part, msg }) => `${level} ${part} ${msg}`)

  before(async () => {
    register.clear()
    ops = await startOpsServer({
      name: 'test',
      config: readConfig({ SERVICE_ENV: 'test', OPS_PORT: '0' }),
      log,
      conditions: { problems: new Map(), warnings: new Map([['replicas', () => warning]]) },
      facts: new Map([['vault key', () => 'k1']]),
      isStopping: () => false
    })
    ops.started()
  })
  after(async () => {
    await ops.stop()
    register.clear()
  })
  const text = async (path: string): Promise<string> =>
    await (await fetch(`http://127.0.0.1:${ops.port}${path}`)).text()

  it('is ready, and reports the warning in /readyz and /metrics', async () => {
    const answer = await fetch(`http://127.0.0.1:${ops.port}/readyz`)
    expect(answer.status).to.equal(200)
    expect(await answer.json()).to.deep.equal({
      status: 'ready',
      process: 'test',
      problems: {},
      warnings: { replicas: 'one of two replicas is away' },
      facts: { 'vault key': 'k1' }
    })
    expect(await text('/metrics')).to.match(/^card_payments_process_warning\{part="replicas"\} 1$/m)
  })

  it('logs once when the warning begins and once when it ends', async () => {
    await text('/readyz')
    expect(changes()).to.deep.equal(['warn replicas a warning began, see /readyz'])
    warning = undefined
    expect(await text('/metrics')).to.match(/^card_payments_process_warning\{part="replicas"\} 0$/m)
    await text('/readyz')
    expect(changes().slice(1)).to.deep.equal(['info replicas a warning ended'])
  })
})

describe('figures that are read for each scrape', () => {
  it('share one reading', async () => {
    const registry = new Registry()
    let reads = 0
    publishFigures(registry, async () => ({ n: ++reads }), [
      { name: 'one', help: 'One.', pick: ({ n }) => n },
      { name: 'two', help: 'Two.', label: 'age', pick: ({ n }) => ({ 0: n, 60: n * 10 }) }
    ])
    expect(await registry.metrics())
      .to.contain('one 1')
      .and.contain('two{age="60"} 10')
    expect(await registry.metrics())
      .to.contain('one 2')
      .and.contain('two{age="0"} 2')
  })

  it('are absent when the reading fails', async () => {
    const registry = new Registry()
    let isAway = false
    const read = async (): Promise<number> => {
      if (isAway) throw new Error('Redis is away')
      return 7
    }
    publishFigures(registry, read, [{ name: 'depth', help: 'Depth.', pick: n => n }])
    expect(await registry.metrics()).to.contain('depth 7')
    isAway = true
    expect(await registry.metrics()).not.to.match(/^depth /m)
  })
})
