import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { createTestToken } from '../../../client/index.js'
import { parseProcfile } from '../../../scripts/start/procfile.js'
import { asOperator } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

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

/** Processes whose machine is 400 s ahead, that of `timers` 50 s behind. */
async function troubledProcfile(): Promise<string> {
  const lines = parseProcfile(await readFile('Procfile', 'utf8')).map(({ name, command }) => {
    if (name === 'network') return `${name}: ${command}`
    const aheadMs = name === 'timers' ? -WRONG_TIMERS_MS : WRONG_MS
    const shift = `--import file://${resolve('dist/test/chaos/shifted-clock.js')}?ms=${aheadMs}`
    return `${name}: ${command.replace(/\bnode /, `node ${shift} `)}`
  })
  return `${lines.join('\n')}\n`
}

describe('the processes of an installation whose clocks are wrong', () => {
  let service: ServiceUnderTest
  before(async () => {
    service = await startService({ procfile: await troubledProcfile(), env: { LOG_LEVEL: 'warn' } })
  })
  after(() => service?.stop())

  it('warn of it, each of them, and are ready', async () => {
    for (const name of PROCESSES) {
      const { status, warnings } = await readinessOf(service, name)
      expect(status, name).to.equal(200)
      const [side, seconds] = name === 'timers' ? ['behind', '(4\\d|5\\d)'] : ['ahead of', '(39\\d|40\\d)']
      expect(warnings['clock'], name).to.match(
        new RegExp(`^The clock of this machine is ${seconds}\\.\\d s ${side} that of Redis\\.`)
      )
      const { text } = await service.ops(`${name}.1`, '/metrics')
      expect(text, name).to.match(new RegExp(`^card_payments_clock_difference_seconds -?${seconds}(\\.\\d+)?$`, 'm'))
      expect(text, name).to.match(/^card_payments_process_warning\{part="clock"\} 1$/m)
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
})
