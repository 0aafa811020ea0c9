/**
 * The server of the shop: its page, what buyers pay, and what the merchant captures, cancels and refunds. It keeps nothing:
 * the payments of an order are read from the service.
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import getRawBody from 'raw-body'
import { ApiError, declineTexts, type Payment, PaymentsClient } from '../../client/index.js'
import { demoCustomer } from '../start/demo-customer.js'
import { closeServer, isLoopbackHost, listenHere } from '../start/tool-ports.js'

/** What a merchant gets from the operator. The secret key stays on the server; the publishable one stands in the page. */
export interface MerchantSettings {
  readonly baseUrl: string
  readonly tokensUrl: string
  readonly apiKey: string
  readonly publishableKey: string
}

/** Browsers get the sources. */
const PAGE = new URL('../../../scripts/shop/page/', import.meta.url)
const PRICE_CENTS = 8_990
/** Short: the page says meanwhile that the payment is under analysis, and reads how it ends. */
const DEADLINE_MS = 1_500
const BODY_BYTES_MAX = 65_536
/** Another payment of the order may follow. */
const OVER: readonly Payment['status'][] = ['failed', 'canceled', 'expired']

/** The API's messages are for the merchant's engineers; these and `declineTexts` are for the buyer. */
const NOT_DONE = {
  en: 'That did not work. No money was moved.',
  'pt-BR': 'Não deu certo. Nenhum valor foi movimentado.'
}

/** Opens the shop on a port of this machine (0: a free one). Rejects when the service of the fields does not answer. */
export async function startShop(
  merchant: MerchantSettings,
  port: number
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const app = new Koa()
  app.use(refuseOtherSites)
  const router = new Router()
  await addPage(router, merchant)
  app.use(addPayments(router, new PaymentsClient({ ...merchant, deadlineMs: DEADLINE_MS })).routes())
  const server = createServer(app.callback())
  const url = `http://localhost:${await listenHere(server, port, '--port')}`
  return { url, stop: () => closeServer(server) }
}

async function addPage(router: Router, { tokensUrl, publishableKey }: MerchantSettings): Promise<void> {
  // A real shop writes address and hash into its page, from docs/HOSTED_FIELDS.md; this one has to fit any checkout.
  const release = await fetch(`${tokensUrl}/v1/fields.json`).catch(() => {
    throw new Error(`The card fields at ${tokensUrl} do not answer. Run \`npm start\` in another terminal.`)
  })
  const fields = (await release.json()) as { readonly path: string; readonly integrity: string }
  const values: Readonly<Record<string, string>> = {
    fieldsScript: `${tokensUrl}${fields.path}`,
    fieldsIntegrity: fields.integrity,
    publishableKey,
    priceCents: String(PRICE_CENTS)
  }
  const template = await readFile(new URL('index.html', PAGE), 'utf8')
  const page = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
  const tokens = new URL(tokensUrl).origin
  const policy = `default-src 'none'; img-src data:; script-src 'self' ${tokens}; frame-src ${tokens}; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

  // An order has its own address: a buyer who reloads the page while paying must not start a second order.
  router.get('/', ctx => {
    ctx.set('Cache-Control', 'no-store')
    ctx.redirect(`/checkout/order-${randomBytes(6).toString('hex')}`)
  })
  router.get('/checkout/:order', ctx => {
    ctx.set({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' })
    ctx.type = 'html'
    ctx.body = page
  })
  for (const name of ['shop.css', 'shop.js']) {
    const content = await readFile(new URL(name, PAGE), 'utf8')
    router.get(`/${name}`, ctx => {
      ctx.type = name
      ctx.body = content
    })
  }
}

function addPayments(router: Router, client: PaymentsClient): Router {
  const read = async (order: string): Promise<readonly Payment[]> =>
    (await client.payments.page({ external_reference: order })).items
  router.get('/orders/:order', async ctx => {
    ctx.body = await read(String(ctx.params['order']))
  })
  router.post('/orders/:order/pay', async ctx => {
    const order = String(ctx.params['order'])
    const { token_id: tokenId, card_id: cardId, last4, is_hold: isHold } = await readJson(ctx)
    const earlier = await read(order)
    const [last] = earlier
    // An order that is paid, or may be, stays as it is: clicking twice pays once.
    if (last !== undefined && !OVER.includes(last.status)) ctx.body = {}
    else if (last?.provider.may_retry === false && last.card.last4 === last4)
      ctx.body = { notice: declineTexts[last.provider.decline_reason ?? 'other'] }
    else {
      const token = { source_type: 'token', token_id: String(tokenId) } as const
      const source = cardId ? ({ source_type: 'card', card_id: String(cardId) } as const) : token
      const body = { amount_cents: PRICE_CENTS, external_reference: order, customer: demoCustomer, capture: !isHold }
      // The same key until the outcome of a try is known.
      const options = { idempotencyKey: `${order}.${earlier.length}` }
      ctx.body = await answerOf(() => client.payments.create({ ...body, payment_source: source }, options))
    }
  })
  router.post('/cards', async ctx => {
    ctx.body = await client.cards.store({ token_id: String((await readJson(ctx))['token_id']) })
  })

  // The merchant's side: a real shop has these behind the login of its staff.
  router.get('/merchant/payments', async ctx => {
    ctx.body = (await client.payments.page({ limit: 8 })).items
  })
  router.post('/merchant/payments/:id/:verb', async ctx => {
    const { amount_cents: amount, key } = await readJson(ctx)
    const [id, verb] = [String(ctx.params['id']), String(ctx.params['verb'])]
    // Only an absent amount means everything: an invalid one must not refund the rest.
    const isAmount = amount === undefined || (Number.isSafeInteger(amount) && Number(amount) > 0)
    if (!isAmount || (verb !== 'capture' && verb !== 'cancel')) return ctx.throw(400)
    const body = amount === undefined ? {} : { amount_cents: Number(amount) }
    const options = { idempotencyKey: String(key) }
    ctx.body = await answerOf(() =>
      verb === 'capture' ? client.payments.capture(id, body, options) : client.payments.refund(id, body, options)
    )
  })
  return router
}

/** A sentence about a refusal. Without one the page reads how the payment stands: its outcome may not be known yet. */
async function answerOf(send: () => Promise<unknown>): Promise<object> {
  try {
    await send()
    return {}
  } catch (error) {
    if (!(error instanceof ApiError)) return {}
    return { notice: error.declineReason === undefined ? NOT_DONE : declineTexts[error.declineReason] }
  }
}

/**
 * Another site could make a browser post here; what a browser posts has to come from our page. A name of another site that
 * leads to this machine (DNS rebinding) would make its page ours, so only names of this machine are served.
 */
async function refuseOtherSites(ctx: Koa.Context, next: Koa.Next): Promise<void> {
  const origin = ctx.get('Origin')
  const isOurs = ctx.method === 'GET' || origin === '' || origin === `http://${ctx.host}`
  if (isOurs && isLoopbackHost(ctx.host)) return next()
  ctx.status = 403
}

async function readJson(ctx: Koa.Context): Promise<Record<string, unknown>> {
  const value: unknown = JSON.parse((await getRawBody(ctx.req, { limit: BODY_BYTES_MAX })).toString())
  return Object(value)
}
