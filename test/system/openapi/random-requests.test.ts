/**
 * Goal: no request makes the service answer 5xx, or anything that docs/openapi.json does not say. Method: at least 1,000
 * requests, each an example of the document with parts exchanged at random. Every `fetch` of a test is held against the
 * document (test/support/documented-answers.ts).
 */
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { isRecord } from '../../../runtime/json.js'
import { openApiDocument, tokensDocument } from '../../../scripts/docs/openapi/document.js'
import { problemsOf } from '../../support/documented-answers.js'
import { Merchant } from '../../support/merchant.js'
import { useService } from '../../support/service.js'
import { setFaults } from '../../support/simulator.js'

/** Requests are sent a batch at a time: most of their time is spent waiting. */
const BATCHES = 55
const BATCH_SIZE = 20

type Json = Readonly<Record<string, unknown>>

interface Request {
  readonly route: string
  readonly id: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** What stands for a token, a card or a payment that exists: the test puts it in when it sends. */
const REAL = { token: 'a real token', card: 'a real card', payment: 'a real payment' }

const paths = Object.fromEntries(
  [openApiDocument(), tokensDocument()].flatMap(({ paths }) => Object.entries(isRecord(paths) ? paths : {}))
) as Readonly<Record<string, Readonly<Record<string, Json>>>>
const routes = Object.entries(paths).flatMap(([path, operations]) =>
  Object.keys(operations).map(method => `${method.toUpperCase()} ${path}`)
)

/** The example of a request body; null for a route without one. */
function exampleBody(route: string): Json | null {
  const [method = '', path = ''] = route.split(' ')
  const requestBody = paths[path]?.[method.toLowerCase()]?.['requestBody']
  const example = isRecord(requestBody) ? at(requestBody, 'content', 'application/json', 'example') : undefined
  return isRecord(example) ? example : null
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value)
}

const source = fc.constantFrom(
  { source_type: 'token', token_id: REAL.token },
  { source_type: 'card', card_id: REAL.card, cvv: '123' },
  { source_type: 'card', card_id: randomUUID() },
  { source_type: 'token', card_id: REAL.card }
)
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    -1,
    0,
    0.5,
    1e21,
    2 ** 53,
    '',
    ' ',
    '\u0000',
    '\ud800',
    '4111111111111111',
    'x'.repeat(600),
    []
  )
)
const change = fc.record({ kind: fc.constantFrom('replace', 'remove', 'add'), at: fc.nat(), value: anything })

/** A body with parts exchanged, at any depth. */
function changed(body: Json, { kind, at: place, value }: { kind: string; at: number; value: unknown }): Json {
  if (kind === 'add') return { ...body, [typeof value === 'string' ? value : 'extra']: value }
  const names = Object.keys(body)
  const name = names[place % names.length] ?? ''
  const inner = body[name]
  if (isRecord(inner) && place % 3 !== 0) return { ...body, [name]: changed(inner, { kind, at: place >> 2, value }) }
  const { [name]: _, ...rest } = body
  return kind === 'remove' ? rest : { ...body, [name]: value }
}

function bodyFor(route: string): fc.Arbitrary<unknown> {
  const example = exampleBody(route)
  if (example === null) return fc.constant(undefined)
  const whole =
    route === 'POST /v1/payments'
      ? fc.record({
          payment_source: source,
          capture: fc.boolean(),
          external_reference: fc.stringMatching(/^order-[a-z0-9]{1,50}$/)
        })
      : fc.constant(route === 'POST /v1/cards' ? { token_id: REAL.token } : {})
  const valid = whole.map(parts => ({ ...example, ...parts }))
  const broken = fc.tuple(valid, fc.array(change, { minLength: 1, maxLength: 3 }))
  return fc.oneof(
    { arbitrary: valid, weight: 5 },
    { arbitrary: broken.map(([body, changes]) => changes.reduce(changed, body as Json)), weight: 5 },
    { arbitrary: anything, weight: 1 },
    { arbitrary: fc.constant(undefined), weight: 1 }
  )
}

/** A header that is mostly right, at times absent or nonsense. */
const header = (right: fc.Arbitrary<string>, nonsense: readonly string[]): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { arbitrary: right, weight: 12 },
    { arbitrary: fc.constantFrom(...nonsense), weight: 1 },
    { arbitrary: fc.constant(undefined), weight: 1 }
  )
const headers = fc
  .record({
    'Idempotency-Key': header(fc.oneof(fc.uuid(), fc.stringMatching(/^k[0-9]$/)), [
      '4111111111111111',
      'x'.repeat(256),
      'é'
    ]),
    Authorization: header(fc.constant('right'), ['Bearer svc_test.k_1.x', 'Basic eDp5']),
    'X-Correlation-Id': fc.oneof(fc.constant(undefined), fc.uuid(), fc.constant('no-uuid')),
    Prefer: fc.constantFrom(undefined, 'wait=0', 'wait=1', 'respond-async', 'wait=a'),
    'Content-Type': header(fc.constant('application/json'), ['text/plain', 'application/json; charset=latin1']),
    Origin: fc.constantFrom(undefined, undefined, 'https://shop.example')
  })
  .map(all =>
    Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  )

const query = fc.oneof(
  { arbitrary: fc.constant(''), weight: 4 },
  {
    arbitrary: fc.constantFrom(
      '?limit=1',
      '?limit=0',
      '?status=captured',
      '?status=x',
      '?cursor=abc',
      '?limit=1&limit=2'
    ),
    weight: 2
  },
  { arbitrary: fc.constantFrom('?x=1', '?%ff', '?external_reference=%00', '?__proto__=1'), weight: 1 }
)

const request: fc.Arbitrary<Request> = fc.constantFrom(...routes).chain(route =>
  fc.record({
    route: fc.constant(route),
    id: fc.oneof(
      { arbitrary: fc.constant(REAL.payment), weight: 3 },
      fc.constantFrom(randomUUID(), 'x', '%00', '..%2f')
    ),
    query,
    headers,
    body: bodyFor(route)
  })
)

/** A payment that is not waited for: 202. */
const accepted: Request = {
  route: 'POST /v1/payments',
  id: '',
  query: '',
  headers: {
    'Idempotency-Key': randomUUID(),
    Authorization: 'right',
    'Content-Type': 'application/json',
    Prefer: 'wait=0'
  },
  body: { ...exampleBody('POST /v1/payments'), payment_source: { source_type: 'token', token_id: REAL.token } }
}

describe('requests at random', () => {
  const service = useService()
  const merchant = new Merchant(service)
  const seen = new Map<number, number>()
  let tokens: string[] = []
  let cards: string[] = []
  let payments: string[] = []

  before(async () => {
    const some = Array.from({ length: 12 }, (_, index) => index)
    payments = await Promise.all(some.map(async i => (await merchant.create({ capture: i % 2 === 0 })).payment.id))
    tokens = await Promise.all(some.map(() => merchant.token()))
    cards = await Promise.all(some.slice(0, 2).map(async () => (await merchant.storeCard()).card_id))
  })

  async function send({ route, id, query: search, headers: given, body }: Request, at: number): Promise<void> {
    const [method = '', template = ''] = route.split(' ')
    const isToken = template === '/v1/tokens'
    const real = { [REAL.token]: tokens[at % tokens.length], [REAL.card]: cards[at % cards.length] }
    const path = template.replace('{id}', id === REAL.payment ? (payments[at % payments.length] ?? '') : id)
    const key = isToken ? service().publishableKey : service().apiKey
    const sent = { ...given, ...(given['Authorization'] === 'right' && { Authorization: `Bearer ${key}` }) }
    const answer = await fetch(`${isToken ? service().tokensUrl : service().baseUrl}${path}${search}`, {
      method,
      headers: Object.entries(sent).filter(([, value]) => /^[\x20-\x7e]*$/.test(value)),
      body:
        body === undefined
          ? null
          : JSON.stringify(body, (_, value) => (typeof value === 'string' ? (real[value] ?? value) : value))
    })
    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    expect(answer.status, `${method} ${path}${search}`).to.be.below(500)
    expect(await problemsOf(method, path, answer)).to.deep.equal([])
  }

  it(`get documented answers, never a 5xx: ${BATCHES * BATCH_SIZE} requests`, async () => {
    const batch = fc.array(request, { minLength: BATCH_SIZE, maxLength: BATCH_SIZE })
    const property = fc.asyncProperty(batch, async requests => {
      await Promise.all(requests.map(send))
    })
    await setFaults(service(), { latency_ms: 500 })
    await send(accepted, 0)
    await setFaults(service(), {})
    // Chance that can be repeated.
    await fc.assert(property, { numRuns: BATCHES, seed: 1 })
    const sum = [...seen.values()].reduce((one, other) => one + other, 0)
    expect(sum).to.be.at.least(1_000)
    // The requests reach what they are about.
    expect([...seen.keys()]).to.include.members([200, 201, 202, 400, 401, 404, 409, 415, 422])
  })
})
