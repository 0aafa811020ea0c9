/** Goal: the examples of docs/openapi.json are what the service answers. Method: sends the examples of requests. */
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { isRecord } from '../../../runtime/json.js'
import { openApiDocument, tokensDocument } from '../../../scripts/docs/openapi/document.js'
import { Merchant } from '../../support/merchant.js'
import { useService } from '../../support/service.js'
import { setFaults } from '../../support/simulator.js'

interface Content {
  readonly content: { readonly 'application/json': { readonly example: Readonly<Record<string, unknown>> } }
}

interface Operation {
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

const paths = Object.fromEntries(
  [openApiDocument(), tokensDocument()].flatMap(({ paths }) => Object.entries(isRecord(paths) ? paths : {}))
) as Readonly<Record<string, Readonly<Record<string, Operation>>>>
const exampleIn = (content: Content | undefined): Readonly<Record<string, unknown>> =>
  content?.content['application/json'].example ?? {}

/** What differs with each run, as its length: ids, times, codes of the network, secrets, keys, addresses. */
const OF_ONE_RUN =
  /(^|_)id$|_at$|^(authorization_code|nsu|tid|secret|token_id|idempotency_key|idempotency_retention_days)$|^url$/

/** An operation that has just been accepted may not have begun: then the payment is as before. */
const BEGUN: Readonly<Record<string, string>> = { pre_authorized: 'capturing', captured: 'refunding' }

/** A value without what differs with each run: what is null stays null, and a time stays a time. */
function lasting(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map(one => lasting(one))
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, lasting(one, key)]))
  if (typeof value !== 'string' || !OF_ONE_RUN.test(name)) return value
  return name.endsWith('_at') ? new Date(value).toISOString().length : typeof value
}

describe('the examples of docs/openapi.json', () => {
  const service = useService()
  const merchant = new Merchant(service)

  /** Sends the example of a request, and compares the answer with the example of that answer. */
  async function expectExample(
    route: string,
    status: number,
    options: { id?: string; body?: object; key?: string; waitS?: number; query?: string } = {}
  ): Promise<Readonly<Record<string, unknown>>> {
    const [method = '', path = ''] = route.split(' ')
    const operation = paths[path]?.[method.toLowerCase()]
    const isToken = path === '/v1/tokens'
    const base = isToken ? service().tokensUrl : service().baseUrl
    const body = operation?.requestBody === undefined ? null : { ...exampleIn(operation.requestBody), ...options.body }
    const answer = await fetch(`${base}${path.replace('{id}', options.id ?? '')}${options.query ?? ''}`, {
      method,
      headers: {
        Authorization: `Bearer ${isToken ? service().publishableKey : service().apiKey}`,
        'Idempotency-Key': options.key ?? randomUUID(),
        ...(options.waitS !== undefined && { Prefer: `wait=${options.waitS}` }),
        ...(body !== null && { 'Content-Type': 'application/json' })
      },
      body: body === null ? null : JSON.stringify(body)
    })
    const value = (await answer.json()) as Record<string, unknown>
    expect(answer.status, JSON.stringify(value)).to.equal(status)
    const example = exampleIn(operation?.responses[String(status)])
    const { status: reached, refunds } = value
    const isBegun = !(String(reached) in BEGUN)
    const begun =
      status === 202 && !isBegun
        ? { ...value, status: BEGUN[String(reached)], refunds: refunds && example['refunds'] }
        : value
    // The service of the tests has no limit.
    const limited = 'rate_limit' in value ? { ...value, rate_limit: { requests_per_second: 100, burst: 200 } } : begun
    expect(lasting(limited)).to.deep.equal(lasting(example))
    return value
  }

  /** The network takes longer than an answer that is not waited for. */
  const whileSlow = async (expectIt: () => Promise<unknown>): Promise<void> => {
    await setFaults(service(), { latency_ms: 500 })
    try {
      await expectIt()
    } finally {
      await setFaults(service(), {})
    }
  }

  const fresh = async (more: object = {}): Promise<object> => ({
    ...more,
    payment_source: { source_type: 'token', token_id: await merchant.token() }
  })

  it('of a payment: made, repeated, in progress, read, listed', async () => {
    const [key, body] = [randomUUID(), await fresh({ external_reference: 'order-1' })]
    const { id } = await expectExample('POST /v1/payments', 201, { key, body })
    await expectExample('POST /v1/payments', 200, { key, body })
    const unanswered = await fresh()
    await whileSlow(() => expectExample('POST /v1/payments', 202, { body: unanswered, waitS: 0 }))
    await expectExample('GET /v1/payments/{id}', 200, { id: String(id) })
  })

  it('of a capture and of a refund', async () => {
    const route = 'POST /v1/payments/{id}'
    const held = async (): Promise<string> => {
      const body = { ...exampleIn(paths['/v1/payments']?.['post']?.requestBody), ...(await fresh({ capture: false })) }
      return (await merchant.post('/v1/payments', body)).payment.id
    }
    await expectExample(`${route}/capture`, 200, { id: await held() })
    const uncaptured = await held()
    await whileSlow(() => expectExample(`${route}/capture`, 202, { id: uncaptured, waitS: 0 }))
    const paid = await expectExample('POST /v1/payments', 201, { body: await fresh() })
    const other = await expectExample('POST /v1/payments', 201, { body: await fresh() })
    await expectExample(`${route}/cancel`, 200, { id: String(paid['id']) })
    await whileSlow(() => expectExample(`${route}/cancel`, 202, { id: String(other['id']), waitS: 0 }))
  })

  it('of a list: one page with one payment', async () => {
    const external_reference = `order-${randomUUID()}`
    await merchant.post('/v1/payments', {
      ...exampleIn(paths['/v1/payments']?.['post']?.requestBody),
      ...(await fresh({ external_reference }))
    })
    const page = await fetch(`${service().baseUrl}/v1/payments?external_reference=${external_reference}`, {
      headers: { Authorization: `Bearer ${service().apiKey}` }
    })
    const text = (await page.text()).replace(external_reference, 'order-1')
    expect(lasting(JSON.parse(text))).to.deep.equal(
      lasting(exampleIn(paths['/v1/payments']?.['get']?.responses['200']))
    )
  })

  it('of a token, a stored card, the webhook endpoint and the capabilities', async () => {
    const { token_id } = await expectExample('POST /v1/tokens', 201)
    const { card_id } = await expectExample('POST /v1/cards', 201, { body: { token_id } })
    await expectExample('GET /v1/cards/{id}', 200, { id: String(card_id) })
    await expectExample('POST /v1/cards', 200, { body: { token_id } })
    await expectExample('PUT /v1/webhook-endpoint', 200)
    await expectExample('GET /v1/webhook-endpoint', 200)
    await expectExample('GET /v1/capabilities', 200)
  })
})
