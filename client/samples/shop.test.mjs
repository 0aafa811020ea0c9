/**
 * A test suite of a shop that pays through the service: copy it, and replace what stands for your own server.
 * DATA_DIR: the data directory of a service that `npm start` runs (docs/TESTING.md).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { after, before, test } from 'node:test'
import { ApiError, createTestToken, PaymentsClient, webhooks } from '@card-payments/client'

const dataDir = process.env.DATA_DIR ?? '.data'
const demo = JSON.parse(readFileSync(`${dataDir}/demo.json`, 'utf8'))
const client = new PaymentsClient({ baseUrl: demo.base_url, apiKey: demo.api_key })

/** Pays with a test card, or with an amount that decides the outcome. */
async function pay({ card = '4024007153760060', ...order } = {}) {
  const { token_id } = await createTestToken({
    tokensUrl: demo.tokens_url,
    publishableKey: demo.publishable_key,
    card: { card_number: card }
  })
  return await client.payments.create({
    amount_cents: 15_990,
    external_reference: 'ci-order',
    payment_source: { source_type: 'token', token_id },
    customer: {
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      document: '52998224725',
      phone: '11987654321',
      address: {
        zip_code: '01310100',
        street: 'Avenida Paulista',
        number: '1000',
        district: 'Bela Vista',
        city: 'Sao Paulo',
        state: 'SP'
      }
    },
    ...order
  })
}

/** The `ApiError` with which a call must end. */
async function refusal(call) {
  const error = await call.then(
    () => assert.fail('it was not refused'),
    reason => reason
  )
  assert.ok(error instanceof ApiError, String(error))
  return error
}

const received = []
let secret
const shop = createServer(
  {
    cert: readFileSync(`${dataDir}/webhooks/loopback-cert.pem`),
    key: readFileSync(`${dataDir}/webhooks/loopback-key.pem`)
  },
  async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    received.push(webhooks.verify(body, request.headers['x-service-signature'], secret))
    response.writeHead(204).end()
  }
)

/** Waits for an event that has these values. */
async function arrival(values) {
  for (let tries = 0; tries < 200; tries++) {
    const found = received.find(event => Object.entries(values).every(([name, value]) => event[name] === value))
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  assert.fail(`no event ${JSON.stringify(values)} in 10 s`)
}

before(async () => {
  await once(shop.listen(0, '127.0.0.1'), 'listening')
  const url = `https://127.0.0.1:${shop.address().port}/`
  secret = (await client.webhookEndpoint.register({ url })).secret
})
after(() => {
  shop.close()
  shop.closeAllConnections()
})

test('a card is charged, and the shop gets the webhook', async () => {
  const payment = await pay()
  assert.equal(payment.status, 'captured')
  await arrival({ payment_id: payment.id, status: 'captured' })
})

test('a declined card fails with its reason', async () => {
  const { code, paymentId } = await refusal(pay({ card: '4024007153760052' }))
  assert.equal(code, 'card_declined')
  assert.equal((await client.payments.get(paymentId)).provider.decline_reason, 'do_not_honor')
})

test('an amount decides the reason of a decline', async () => {
  const { paymentId } = await refusal(pay({ amount_cents: 1051 }))
  assert.equal((await client.payments.get(paymentId)).provider.decline_reason, 'insufficient_funds')
})

test('a network that cannot be reached charges nothing', async () => {
  const error = await refusal(pay({ amount_cents: 1503 }))
  assert.deepEqual([error.status, error.code], [503, 'network_unavailable'])
})

test('a payment is charged back', async () => {
  const { id } = await pay()
  assert.equal((await client.test.chargeback(id)).status, 'charged_back')
  await arrival({ payment_id: id, status: 'charged_back' })
})

test('a hold expires', async () => {
  const { id } = await pay({ capture: false })
  assert.equal((await client.test.expire(id)).status, 'expired')
  assert.equal((await refusal(client.payments.capture(id))).code, 'preauth_expired')
})

test('an event that is sent again has the same event_id', async () => {
  const { event_id } = await client.test.sendWebhookEvent()
  await arrival({ event_id, event_type: 'webhook.test' })
  while (!(await client.test.webhookEvents()).some(event => event.event_id === event_id)); // it is being sent
  received.length = 0
  await client.test.replayWebhookEvent(event_id)
  await arrival({ event_id })
})
