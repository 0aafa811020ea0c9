/** The shop's own HTTP server: its page, the buyer's payment, the merchant's refunds, the webhook. */
import { createServer } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import getRawBody from 'raw-body'
import { PaymentsClient, type WebhookEvent, webhooks } from '../../client/index.js'
import { isLoopbackHost, listenHere } from '../start/tool-ports.js'
import { cardOf, type Order } from './order.js'
import { OrderBook } from './order-book.js'
import { loadPage, type MerchantSettings } from './shop-page.js'

export interface Shop {
  readonly url: string
  /** Accepts webhooks with signatures of this secret from now on. Before the first call it accepts none. */
  believeWebhooks(secret: string): void
  stop(): Promise<void>
}

const REFRESH_MS = 1_000
const BODY_BYTES_MAX = 65_536

/** Opens the shop on a port of this machine (0: a free one). */
export async function startShop(options: { merchant: MerchantSettings; port: number }): Promise<Shop> {
  let webhookSecret = ''
  const orders = new OrderBook(new PaymentsClient(options.merchant))
  const app = new Koa()
  app.use(refuseOtherSites)
  app.use(addPage(new Router(), orders, await loadPage(options.merchant)).routes())
  app.use(addOrders(new Router(), orders).routes())
  app.use(addWebhook(new Router(), orders, () => webhookSecret).routes())

  const server = createServer(app.callback())
  const port = await listenHere(server, options.port, '--port')
  const refreshing = setInterval(() => void orders.refreshUnsettled(), REFRESH_MS)
  return {
    url: `http://localhost:${port}`,
    believeWebhooks: secret => {
      webhookSecret = secret
    },
    stop: () => {
      clearInterval(refreshing)
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}

function addPage(router: Router, orders: OrderBook, page: Awaited<ReturnType<typeof loadPage>>): Router {
  // An order has its own address: a buyer who reloads the page while paying must not start a second order.
  router.get('/', ctx => {
    ctx.status = 303
    ctx.set({ Location: `/checkout/${orders.open().id}`, 'Cache-Control': 'no-store' })
  })
  router.get('/checkout/:id', ctx => {
    const order = orders.find(ctx.params['id'] ?? '')
    if (order === undefined) return ctx.redirect('/')
    ctx.set({ 'Content-Security-Policy': page.contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' })
    ctx.type = 'html'
    ctx.body = page.html(order.id)
  })
  for (const [path, { type, content }] of page.files) {
    router.get(path, ctx => {
      ctx.type = type
      ctx.body = content
    })
  }
  return router
}

function addOrders(router: Router, orders: OrderBook): Router {
  router.get('/orders/:id', ctx => {
    const order = orders.find(ctx.params['id'] ?? '')
    if (order !== undefined) ctx.body = present(order)
  })
  router.post('/orders/:id/pay', async ctx => {
    const order = orders.find(ctx.params['id'] ?? '')
    const { token_id: tokenId, brand, last4 } = await readJson(ctx)
    if (order === undefined) return
    const card = cardOf({ brand: String(brand), last4: String(last4) })
    ctx.body = present(await orders.pay(order.id, String(tokenId), card))
  })

  // The merchant's side: a real shop has these behind the login of its staff.
  router.get('/merchant/orders', ctx => {
    ctx.body = orders.list().map(present)
  })
  router.post('/merchant/orders/:id/refund', async ctx => {
    const order = orders.find(ctx.params['id'] ?? '')
    const { amount_cents: amount = null } = await readJson(ctx)
    if (order === undefined) return
    if (isRefundAmount(amount)) ctx.body = present(await orders.refund(order.id, amount))
    else {
      ctx.status = 400
      ctx.body = present(order)
    }
  })
  return router
}

/** Only an absent amount means everything: an invalid one must not refund the rest. */
function isRefundAmount(amount: unknown): amount is number | null {
  return amount === null || (typeof amount === 'number' && Number.isSafeInteger(amount) && amount > 0)
}

function addWebhook(router: Router, orders: OrderBook, secretNow: () => string): Router {
  router.post('/webhooks', async ctx => {
    const body = await getRawBody(ctx.req, { limit: BODY_BYTES_MAX })
    const event = eventIn(body, ctx.get(webhooks.SIGNATURE_HEADER), secretNow())
    if (event === null) {
      ctx.status = 401
      return
    }
    const order = orders.find(event.external_reference)
    // Answered first, worked on afterwards: the service waits for a 2xx, not for the shop.
    ctx.status = 204
    if (order !== undefined) void orders.refresh(order.id, 'webhook')
  })
  return router
}

/** Null: it is not from the payments service, or the shop has no secret yet. */
function eventIn(body: Buffer, header: string, secret: string): WebhookEvent | null {
  if (secret === '') return null
  try {
    return webhooks.verify(body, header, secret)
  } catch {
    return null
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
  const body = await getRawBody(ctx.req, { limit: BODY_BYTES_MAX })
  const value: unknown = JSON.parse(body.toString())
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** What the page may know of an order. */
function present({ id, status, notice, source, payment, pending }: Order): object {
  return {
    id,
    status,
    notice,
    source,
    is_waiting: pending !== null,
    paid_cents: payment?.captured_cents ?? 0,
    refunded_cents: payment?.refunded_cents ?? 0,
    card: payment === null ? null : cardOf(payment.card)
  }
}
