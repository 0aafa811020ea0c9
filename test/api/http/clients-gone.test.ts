import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect } from 'chai'
import { register } from 'prom-client'
import { createJsonApp, routerOf } from '../../../api/http/api-app.js'
import { serve } from '../../../api/http/http-server.js'
import { readJson } from '../../../api/http/middleware/json-body.js'
import type { Route } from '../../../api/http/route.js'
import { createNotificationsApp } from '../../../api/notifications/notifications-app.js'
import { systemClock } from '../../../runtime/clock.js'
import { createLogger } from '../../../runtime/log.js'
import { until } from '../../support/conditions.js'
import { writingTo } from '../../support/log-lines.js'
import { useTokensApp } from '../../support/tokens-app.js'
import { API_KEY, startApi } from '../running-api.js'

const CLIENTS = 20
/** Levels of which an operator is told. */
const TROUBLE = /"level":"?(warn|error|fatal|[456]0)/

interface Target {
  readonly port: number
  readonly head: string
  readonly logLines: readonly string[]
}

describe('a client that disconnects before its body was read', () => {
  const tokens = useTokensApp()
  const lines: string[] = []
  const stops: (() => Promise<void>)[] = []
  const targets: Record<string, Target> = {}
  // What koa prints by itself goes around the log.
  const write = process.stderr.write
  const printed: string[] = []

  before(async () => {
    const log = createLogger('test', 'info', writingTo(lines))
    const api = await startApi({ log })
    const notifications = await serve(
      createNotificationsApp({ secret: 's', notifications: { note: async () => undefined }, clock: systemClock, log }),
      { host: '127.0.0.1', port: 0, log }
    )
    stops.push(api.stop, notifications.stop)
    const keyed = (path: string, key: string): string => headOf(path, { Authorization: `Bearer ${key}` })
    targets['api'] = {
      port: api.port,
      head: keyed('/v1/payments', `${API_KEY}\r\nIdempotency-Key: 1`),
      logLines: lines
    }
    targets['tokens'] = {
      port: Number(new URL(tokens.url).port),
      head: keyed('/v1/tokens', tokens.publishableKey),
      logLines: tokens.logLines
    }
    targets['notifications'] = {
      port: notifications.port,
      head: headOf('/notifications', { 'X-Notification-Secret': 's' }),
      logLines: lines
    }
  })
  after(() => Promise.all(stops.map(stop => stop())))
  beforeEach(() => {
    register.resetMetrics()
    lines.length = 0
    process.stderr.write = chunk => printed.push(String(chunk)) > 0
  })
  afterEach(() => {
    process.stderr.write = write
    expect(printed.splice(0)).to.deep.equal([])
  })

  it('counts a client that disconnects before its body is read', async () => {
    const route: Route = {
      method: 'POST',
      path: '/x',
      async answer(ctx) {
        await new Promise(resolve => ctx.req.once('close', resolve))
        await readJson(ctx, { isOptional: false })
        return { status: 200 }
      }
    }
    const log = createLogger('test', 'info', writingTo(lines))
    const server = await serve(createJsonApp(log, routerOf([route])), { host: '127.0.0.1', port: 0, log })
    stops.push(server.stop)
    await leave(server.port, headOf('/x', {}), true, 20)
    await until('it is counted', async () => sum(await statuses()) === 1)
    expect(await statuses()).to.deep.equal({ 499: 1 })
    expect(lines.filter(line => TROUBLE.test(line))).to.deep.equal([])
  })

  for (const name of ['api', 'tokens', 'notifications']) {
    for (const [way, waitMs] of [
      ['resets its connection at once', 0],
      ['resets its connection after 3 ms', 3],
      ['closes its connection after 3 ms', 3]
    ] as const) {
      it(`${name}: ${way}: 499, no error in the log, no alert`, async () => {
        const { port, head, logLines } = targets[name] as Target
        const isReset = way.startsWith('resets')
        await Promise.all(Array.from({ length: CLIENTS }, () => leave(port, head, isReset, waitMs)))
        await until('all are counted', async () => sum(await statuses()) === CLIENTS)
        expect(await statuses()).to.deep.equal({ 499: CLIENTS })
        expect(logLines.filter(line => TROUBLE.test(line))).to.deep.equal([])
        const alerting = statusesOfServerErrors()
        expect(Object.keys(await statuses()).filter(status => alerting.test(status))).to.deep.equal([])
      })
    }
  }
})

function headOf(path: string, headers: Readonly<Record<string, string>>): string {
  const all = { Host: 'x', 'Content-Type': 'application/json', 'Content-Length': '200', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

/** Sends the headers and goes. */
function leave(port: number, head: string, isReset: boolean, waitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.write(head, () => setTimeout(() => (isReset ? socket.resetAndDestroy() : socket.destroy()), waitMs))
  })
}

/** How often each status was answered, by the metrics. */
async function statuses(): Promise<Record<string, number>> {
  const metric = await register.getSingleMetric('card_payments_http_request_duration_seconds')?.get()
  const counts: Record<string, number> = {}
  for (const value of metric?.values ?? []) {
    if (!('metricName' in value) || value.metricName !== 'card_payments_http_request_duration_seconds_count') continue
    const status = String(value.labels['status'])
    counts[status] = (counts[status] ?? 0) + value.value
  }
  return counts
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}

/** The statuses that the alert ServerErrors counts. */
function statusesOfServerErrors(): RegExp {
  const [, pattern] = /ServerErrors\n\s+expr: .*?status=~"([^"]+)"/.exec(readFileSync('ops/alerts.yml', 'utf8')) ?? []
  if (pattern === undefined) throw new Error('ops/alerts.yml has no alert ServerErrors on statuses')
  return new RegExp(`^(?:${pattern})$`)
}
