import { chmod, readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { createTestToken } from '../../../client/index.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { parseProcfile } from '../../../scripts/start/procfile.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, registerHook } from '../../support/merchant.js'
import { startReceiver } from '../../support/receiver.js'
import { type ServiceUnderTest, startService, useService } from '../../support/service.js'

const PROCESSES = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks']
const WRONG_MS = 400_000
/** With more than a minute it would not be ready. */
const WRONG_TIMERS_MS = 50_000
const TOKEN_TTL_MS = 900_000

interface Readiness {
  readonly status: number
  readonly warnings: Readonly<Record<string, string>>
}

async function readinessOf(service: ServiceUnderTest, name: string): Promise<Readiness> {
  const { status, text } = await service.ops(`${name}.1`, '/readyz')
  return { status, warnings: JSON.parse(text).warnings }
}

/** Makes a process believe that it runs on a Node that no test runs on. */
const OTHER_NODE = `--import 'data:text/javascript,Object.defineProperty(process,"version",{value:"v25.1.0"})'`

/** Processes on another Node, whose machine is 400 s ahead, that of `timers` 50 s behind, and a `payments` process that looks for the card network at the wrong place. */
async function troubledProcfile(): Promise<string> {
  const lines = parseProcfile(await readFile('Procfile', 'utf8')).map(({ name, command }) => {
    if (name === 'network') return `${name}: ${command}`
    const aheadMs = name === 'timers' ? -WRONG_TIMERS_MS : WRONG_MS
    const shift = `${OTHER_NODE} --import file://${resolve('dist/test/chaos/shifted-clock.js')}?ms=${aheadMs}`
    const shifted = command.replace(/\bnode /, `node ${shift} `)
    if (name !== 'payments') return `${name}: ${shifted}`
    return `${name}: ${shifted.replace(/^exec /, 'exec env NETWORK_TRANSACTION_URL=http://127.0.0.1:1 ')}`
  })
  return `${lines.join('\n')}\n`
}

describe('the processes of a sound installation', () => {
  const service = useService()

  it('warn of nothing, and publish the difference of their clocks', async () => {
    for (const name of PROCESSES) {
      expect(await readinessOf(service(), name), name).to.deep.equal({ status: 200, warnings: {} })
      const { text } = await service().ops(`${name}.1`, '/metrics')
      const seconds = /^card_payments_clock_difference_seconds (.*)$/m.exec(text)?.[1]
      expect(Number(seconds), name).to.be.within(-1, 1)
    }
  })
})

describe('the processes of an installation in trouble that can still work', () => {
  let service: ServiceUnderTest
  before(async () => {
    const env = { LOG_LEVEL: 'warn', WEBHOOK_RETRY_DELAYS_MS: '500' }
    service = await startService({ procfile: await troubledProcfile(), env })
  })
  after(() => service?.stop())

  it('warn of a Node that no test runs on, in a log line too', async () => {
    const sentence = 'This process runs on Node v25.1.0, on which it was not tested. Start it with one of ^20.19'
    for (const name of PROCESSES) {
      expect((await readinessOf(service, name)).warnings['version of Node'], name).to.contain(sentence)
    }
    expect(service.logs()).to.contain(sentence)
  })

  it('warn of a clock that is wrong, each of them, and are ready', async () => {
    for (const name of PROCESSES) {
      const { status, warnings } = await readinessOf(service, name)
      expect(status, name).to.equal(200)
      const [side, seconds] = name === 'timers' ? ['behind', '(49|50)'] : ['ahead of', '(399|400)']
      expect(warnings['clock'], name).to.match(
        new RegExp(`^The clock of this machine is ${seconds}\\.\\d s ${side} that of Redis\\.`)
      )
      const { text } = await service.ops(`${name}.1`, '/metrics')
      expect(text, name).to.match(new RegExp(`^card_payments_clock_difference_seconds -?${seconds}(\\.\\d+)?$`, 'm'))
      expect(text, name).to.match(/^card_payments_process_warning\{part="clock"\} 1$/m)
    }
  })

  it('still retry a webhook in time', async () => {
    const answer = (response: ServerResponse, index: number): void =>
      void response.writeHead(index === 0 ? 500 : 204).end()
    const receiver = await startReceiver(answer, readLoopbackTls(service.dataDir))
    try {
      await registerHook(service, receiver.url)
      await new Merchant(() => service).create()
      const accepted = await until('the retry arrives', () => [...receiver.accepted().values()][0])
      expect(accepted).to.deep.equal(['failed'])
    } finally {
      await receiver.stop()
    }
  })

  it('use the clock of Redis to say when a token or an API key expires', async () => {
    const { tokensUrl, publishableKey, merchantId, baseUrl } = service
    const token = await createTestToken({ tokensUrl, publishableKey })
    expect(Date.parse(token.expires_at) - Date.now()).to.be.closeTo(TOKEN_TTL_MS, 60_000)

    const [permissions, expires] = ['payments:read', new Date(Date.now() + WRONG_MS / 2).toISOString()]
    const args = ['--merchant', merchantId, '--permissions', permissions, '--expires', expires, '--json']
    const { out } = await asOperator(service, 'key', 'create', ...args)
    const headers = { Authorization: `Bearer ${JSON.parse(out).key}` }
    expect((await fetch(`${baseUrl}/v1/payments`, { headers })).status).to.equal(200)
  })

  it('warn of a card network that cannot be reached: payments ends what it can, and is ready', async () => {
    const merchant = new Merchant(() => service)
    expect((await merchant.create()).error).to.include({ code: 'network_unavailable' })
    const { status, warnings } = await readinessOf(service, 'payments')
    expect(status).to.equal(200)
    expect(warnings['card network']).to.match(
      /^The last \d+ calls to the card network at 127\.0\.0\.1:1 got no answer \(ECONNREFUSED\)\./
    )
  })

  it('warn of key files that every user may read, in the processes that read them', async () => {
    const file = join(service.dataDir, 'vault', 'webhook-keys.json')
    await chmod(file, 0o644)
    for (const name of PROCESSES) {
      const { warnings } = await readinessOf(service, name)
      if (name === 'api' || name === 'webhooks') expect(warnings['secret files'], name).to.contain('mode 644')
      else expect(warnings, name).not.to.have.property('secret files')
    }
    await chmod(file, 0o600)
  })
})
