import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { Merchant } from '../../support/merchant.js'
import { useService } from '../../support/service.js'

describe('key files of a running service', () => {
  const service = useService()
  const merchant = new Merchant(service)
  const isUp = (): Promise<boolean> =>
    fetch(`${service().baseUrl}/v1/capabilities`).then(
      ({ status }) => status === 401,
      () => false
    )

  it('may be lost to api without an end of its work: registrations are answered 503, and it warns', async () => {
    const file = join(service().dataDir, 'vault', 'webhook-keys.json')
    const kept = readFileSync(file)
    rmSync(file)
    try {
      service().kill('api', 'SIGTERM')
      await until('api is gone', async () => !(await isUp()))
      await until('api is up without the file', isUp)
      expect((await merchant.create()).payment.status).to.equal('captured')
      const body = JSON.stringify({ url: 'https://shop.example/hook' })
      const headers = { Authorization: `Bearer ${service().apiKey}`, 'Content-Type': 'application/json' }
      const answer = await fetch(`${service().baseUrl}/v1/webhook-endpoint`, { method: 'PUT', headers, body })
      expect(answer.status).to.equal(503)
      const { status, text } = await service().ops('api.1', '/readyz')
      expect(status).to.equal(200)
      expect(JSON.parse(text).warnings['webhook keys']).to.match(/webhook-keys\.json.* Restore the file, and restart/)
    } finally {
      writeFileSync(file, kept, { mode: 0o600 })
      service().kill('api', 'SIGTERM')
      await until('api is gone', async () => !(await isUp()))
      await service().untilReady()
    }
  })
})
