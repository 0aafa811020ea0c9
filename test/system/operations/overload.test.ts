import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { type ApiAnswer, asOperator, Merchant, testCards } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

const MAX_IN_FLIGHT = 24
const FLOOD = 120
/** How long the network takes: the flood is refused, and the others are served, in that time. */
const NETWORK_MS = 5_000

describe('more requests than the service can work on', function () {
  this.timeout(40_000)
  let service: ServiceUnderTest
  const flooding = new Merchant(() => service)
  let quiet: Merchant
  before(async () => {
    // One partition: the flood and the quiet merchant share everything that merchants can share.
    service = await startService({
      env: {
        LOG_LEVEL: 'warn',
        PARTITIONS: '1',
        MAX_IN_FLIGHT: String(MAX_IN_FLIGHT),
        SHED_AFTER_MS: '3000',
        RESULT_WAIT_MS: '30000'
      }
    })
    quiet = await anotherMerchant(service)
  })
  after(() => service?.stop())
  const latency = (ms: number): Promise<unknown> =>
    fetch(`${service.networkUrl}/simulator/faults`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ latency_ms: ms })
    })

  it("are refused at once with 503, and one merchant's flood leaves room for the others", async () => {
    await latency(NETWORK_MS)
    const source = await storedCard(flooding, service)
    const answers: ApiAnswer[] = []
    const flood = Array.from({ length: FLOOD }, async () => void answers.push(await flooding.create({ source })))
    await until('the flood fills its share', () => answers.some(({ status }) => status === 503))
    const others = await Promise.all(Array.from({ length: 4 }, () => quiet.create()))
    await Promise.all(flood)
    await latency(0)

    expect(others.map(({ status }) => status)).to.deep.equal([201, 201, 201, 201])
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length + answers.filter(({ status }) => status === 201).length).to.equal(FLOOD)
    expect(refused.length).to.be.greaterThan(FLOOD - 2 * MAX_IN_FLIGHT)
    for (const { error, headers } of refused) {
      expect(error).to.include({ code: 'service_unavailable', retryable: true })
      expect(Number(headers.get('Retry-After'))).to.be.within(1, 3)
    }
    const early = answers.slice(
      0,
      answers.findIndex(({ status }) => status === 201)
    )
    expect(early.length, 'refusals before the network has answered').to.be.greaterThan(refused.length / 2)
    expect(await metric(service, 'card_payments_http_requests_shed_total{reason="merchant_share"}')).to.equal(
      refused.length
    )
  })

  it('wait in no endless queue: while no worker takes commands, new payments are refused, and taken again after', async () => {
    service.kill('payments', 'SIGSTOP')
    const [key, token] = [randomUUID(), await quiet.token()]
    const waiting = await quiet.create({ key, token, waitS: 0 })
    expect(waiting.status).to.equal(202)
    const refusal = await until('creates are refused', async () => {
      const answer = await quiet.create({ waitS: 0 })
      return answer.status === 503 ? answer : undefined
    })
    expect(refusal.error.code).to.equal('service_unavailable')
    expect(Number(refusal.headers.get('Retry-After'))).to.be.within(1, 3)
    const repeated = await quiet.create({ key, token, waitS: 0 })
    expect([repeated.status, repeated.error.code]).to.deep.equal([409, 'idempotency_in_progress'])
    service.kill('payments', 'SIGCONT')
    await until('creates are taken', async () => (await quiet.create()).status === 201)
    expect((await quiet.settled(waiting.payment.id)).status).to.be.oneOf(['captured', 'unknown', 'failed'])
  })
})

async function metric(service: ServiceUnderTest, name: string): Promise<number> {
  const { text } = await service.ops('api.1', '/metrics')
  const line = text.split('\n').find(candidate => candidate.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

async function storedCard(merchant: Merchant, service: ServiceUnderTest): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.baseUrl}/v1/cards`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ token_id: await merchant.token(testCards.approved) })
  })
  const { card_id } = (await response.json()) as { card_id: string }
  return { source_type: 'card', card_id }
}

async function anotherMerchant(service: ServiceUnderTest): Promise<Merchant> {
  const created = await asOperator(service, 'merchant', 'create', '--name', 'Quiet', '--json')
  const { merchant_id } = created.json() as { merchant_id: string }
  const keyFor = async (...options: string[]): Promise<string> => {
    const made = await asOperator(service, 'key', 'create', '--merchant', merchant_id, ...options, '--json')
    return (made.json() as { key: string }).key
  }
  return new Merchant(() => service, {
    apiKey: await keyFor('--permissions', 'payments:read,payments:write,cards:write'),
    publishableKey: await keyFor('--permissions', 'tokens:write', '--publishable')
  })
}
