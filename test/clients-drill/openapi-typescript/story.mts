/** The story of a merchant with types of openapi-typescript and openapi-fetch (test/clients-drill). */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'
import { isSigned } from './signature.mjs'
import type { paths as TokenPaths } from './tokens.js'

type Schemas = components['schemas']

const {
  BASE_URL = '',
  API_KEY = '',
  PUBLISHABLE_KEY = '',
  TOKENS_URL = '',
  WEBHOOK_URL = '',
  DRILL_URL = '',
  RUN
} = process.env
const api = createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${API_KEY}` } })
const tokens = createClient<TokenPaths>({
  baseUrl: TOKENS_URL,
  headers: { Authorization: `Bearer ${PUBLISHABLE_KEY}` }
})

function check(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

/** Without what the growing proxy adds to known values. */
const plain = (value: string): string => value.replace(/_added$/, '')

async function byToken(number = '4024007153760060'): Promise<Schemas['PaymentSource']> {
  const card = {
    card_number: number,
    holder_name: 'Ada Lovelace',
    expiration_month: '12',
    expiration_year: '2099',
    cvv: '123'
  }
  const { data } = await tokens.POST('/v1/tokens', { body: card })
  check(data, 'token')
  return { source_type: 'token', token_id: data.token_id }
}

function order(amount: number, source: Schemas['PaymentSource'], more: Partial<Schemas['CreatePaymentRequest']> = {}) {
  const address = {
    zip_code: '01310100',
    street: 'Avenida Paulista',
    number: '1000',
    district: 'Bela Vista',
    city: 'São Paulo',
    state: 'SP'
  } as const
  const customer = {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    document: '52998224725',
    phone: '11987654321',
    address
  }
  const metadata = { basket: 9007199254740991, rate: 0.1, gift: true, note: 'é', voucher: null }
  return {
    amount_cents: amount,
    external_reference: `order-${RUN}`,
    payment_source: source,
    customer,
    metadata,
    ...more
  }
}

const create = (key: string, body: Schemas['CreatePaymentRequest'], prefer?: string) =>
  api.POST('/v1/payments', {
    params: { header: { 'Idempotency-Key': `${key}-${RUN}`, ...(prefer && { Prefer: prefer }) } },
    body
  })
const operation = (id: string, key: string) => ({
  params: { path: { id }, header: { 'Idempotency-Key': `${key}-${RUN}` } }
})

const { data: endpoint } = await api.PUT('/v1/webhook-endpoint', { body: { url: WEBHOOK_URL } })
check(endpoint, 'endpoint')

// A charge of more than 32 bits, and its replay.
const request = order(999_999_999_999, await byToken())
const first = await create('charge', request)
const paid = first.data
check(paid && first.response.status === 201 && plain(paid.status) === 'captured', 'charge')
check(paid.captured_cents === 999_999_999_999, 'amount')
const again = await create('charge', request)
check(again.response.status === 200 && again.data?.id === paid.id, 'replay')
check(again.response.headers.get('Idempotent-Replayed') === 'true', 'header of a replay')

// A decline is an error of the type that the document names.
const declined = await create('decline', order(1_000, await byToken('4024007153760052')))
check(declined.response.status === 422 && plain(declined.error?.error.code ?? '') === 'card_declined', 'decline')

// 202, and its end.
const accepted = await create('accepted', order(1_000, await byToken()), 'wait=0')
check(accepted.data && accepted.response.status === 202, '202')
const path = { id: accepted.data.id }
while (plain((await api.GET('/v1/payments/{id}', { params: { path } })).data?.status ?? '') !== 'captured') {
  await new Promise(resolve => setTimeout(resolve, 100))
}

// A hold, a part of it captured, two parts refunded, and the rest without a body.
const held = (await create('hold', order(10_000, await byToken(), { capture: false }))).data?.id ?? ''
const captured = await api.POST('/v1/payments/{id}/capture', {
  ...operation(held, 'capture'),
  body: { amount_cents: 6_000 }
})
check(captured.data && plain(captured.data.status) === 'captured' && captured.data.captured_cents === 6_000, 'capture')
for (const cents of [1_000, 2_000]) {
  const refund = { ...operation(held, `refund-${cents}`), body: { amount_cents: cents } }
  check((await api.POST('/v1/payments/{id}/cancel', refund)).data, 'refund')
}
const rest = (await api.POST('/v1/payments/{id}/cancel', operation(held, 'rest'))).data
check(
  rest && plain(rest.status) === 'refunded' && rest.refunded_cents === 6_000 && rest.refunds.length === 3,
  'refunds'
)

// A stored card, and a charge of it.
const source = await byToken()
check('token_id' in source, 'token')
const { data: card } = await api.POST('/v1/cards', { body: { token_id: source.token_id } })
check(card, 'card')
const byCard = await create('card', order(1_500, { source_type: 'card', card_id: card.card_id, cvv: '123' }))
check(byCard.data?.card.card_id === card.card_id, 'charge of a stored card')

// All pages of the list, with metadata: five payments, of which one was declined.
let found = 0
for (let cursor: string | null | undefined; cursor !== null; ) {
  const query = { external_reference: `order-${RUN}`, limit: 2, ...(cursor && { cursor }) }
  const page: Schemas['PaymentPage'] | undefined = (await api.GET('/v1/payments', { params: { query } })).data
  check(page, 'page')
  for (const { metadata } of page.items) {
    check(metadata['basket'] === 9007199254740991 && metadata['rate'] === 0.1 && metadata['note'] === 'é', 'metadata')
    found++
  }
  cursor = page.next_cursor
}
check(found === 5, `list ${found}`)

// The webhook of the first charge.
const delivery = await fetch(`${DRILL_URL}/delivery/${paid.id}`)
const body = await delivery.text()
const header = delivery.headers.get('X-Service-Signature') ?? ''
check(isSigned(header, body, endpoint.secret) && !isSigned(header, body, 'whsec_another'), 'signature')
const event: Schemas['WebhookEvent'] = JSON.parse(body)
check(event.payment_id === paid.id && plain(event.status) === 'captured', 'event')
process.stdout.write('done\n')
