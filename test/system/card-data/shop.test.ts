import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { until } from '../../support/conditions.js'
import { fieldsOf, GOOD, pay, typeCard, useShop } from './shop-page.js'
import { call, DECLINED, UNANSWERED } from './shopping.js'

const SECRET = 'whsec_of_the_shop'
const DESKTOP = { width: 1_180, height: 1_060 }
const PHONE = { width: 360, height: 800 }
/** `npm run pictures` sets it: pictures of the shop are written there. */
const PICTURES = process.env['PICTURES_DIR']

describe('demo shop in a real browser', function () {
  this.timeout(60_000)
  const { service, browser, url, visit, believeWebhooks } = useShop()

  const orderOf = async (page: Page): Promise<string> => (await page.locator('body').getAttribute('data-order')) ?? ''
  const outcome = (page: Page, title: string | RegExp): Promise<void> =>
    page.locator('#outcome').getByRole('heading', { name: title }).waitFor()
  const row = (page: Page, order: string) => page.locator('#orders tr').filter({ hasText: order })
  const picture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png` })
  }

  it('takes a card, charges it, and gives the money back in parts', async () => {
    const page = await visit(DESKTOP)
    await typeCard(page, GOOD, 'key by key')
    expect(await fieldsOf(page).getByLabel('Card number').inputValue()).to.equal('4024 0071 5376 0060')
    expect(await fieldsOf(page).getByLabel('Expiry').inputValue()).to.equal('12 / 30')
    await fieldsOf(page).getByText('Visa').waitFor()
    await picture(page, 'shop')
    await pay(page)
    await outcome(page, 'Thank you!')

    const order = row(page, await orderOf(page))
    await order.getByLabel(/Amount to refund/).fill('10,00')
    await order.getByRole('button', { name: 'Refund' }).click()
    await order.getByText('partially refunded').waitFor()
    await order.getByText('R$10.00').waitFor()
    await order.getByRole('button', { name: 'Refund' }).click()
    await outcome(page, 'Refunded')
  })

  it('says that a card was declined, and takes another one for the same order', async () => {
    const page = await visit(DESKTOP)
    await typeCard(page, { number: DECLINED })
    await pay(page)
    await page.getByRole('alert').getByText('The bank did not approve the purchase.').waitFor()
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    const { body } = await call(service(), 'GET', `/v1/payments?external_reference=${await orderOf(page)}`)
    const statuses = (body as unknown as { items: { status: string }[] }).items.map(({ status }) => status)
    expect(statuses).to.deep.equal(['captured', 'failed'])
  })

  it('holds an order without an answer under analysis, then tells how it ended', async () => {
    const page = await visit(PHONE)
    await typeCard(page, { number: UNANSWERED })
    await pay(page)
    await outcome(page, /under analysis/)
    await page.getByText('please do not pay again').waitFor()
    await outcome(page, 'Thank you!')
  })

  it('sends a refund without an answer once, and tells how it ended', async () => {
    const page = await visit(DESKTOP)
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    const order = row(page, await orderOf(page))
    await order.getByLabel(/Amount to refund/).fill('9.94')
    await order.getByRole('button', { name: 'Refund' }).click()
    await order.getByText('partially refunded').waitFor({ timeout: 20_000 })
    await order.getByText('R$9.94').waitFor()
  })

  it('gives nothing back for what is no amount', async () => {
    const page = await visit(DESKTOP)
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    const id = await orderOf(page)
    for (const amount of ['1.234,56', 'ten', '-5', '0', ' ']) {
      await row(page, id)
        .getByLabel(/Amount to refund/)
        .fill(amount)
      await row(page, id).getByRole('button', { name: 'Refund' }).click()
      // The same past the page: the shop's server does not rely on the browser.
      const { status, order } = await askForRefund(url(), id, amount)
      expect([status, order['status'], order['refunded_cents']], amount).to.deep.equal([400, 'paid', 0])
    }
  })

  it('charges once however often it is asked to', async () => {
    const page = await visit(DESKTOP)
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    const order = await orderOf(page)
    await page.evaluate(
      id => fetch(`/orders/${id}/pay`, { method: 'POST', body: '{"token_id":"tok_again"}' }).then(r => r.text()),
      order
    )
    const { body } = await call(service(), 'GET', `/v1/payments?external_reference=${order}`)
    expect((body as unknown as { items: object[] }).items).to.have.length(1)
  })

  it('learns by webhook, from the service itself', async () => {
    const page = await visit(DESKTOP)
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    await learnsByWebhook(await orderOf(page))
  })

  it('asks for the truth when a webhook comes, and believes none that is not signed', async () => {
    // Those of the service itself no longer count: what the shop learns now, it learns from this test.
    believeWebhooks(SECRET)
    const page = await visit(DESKTOP)
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    const order = await orderOf(page)
    const refused = await sendEvent(
      url(),
      { external_reference: order, status: 'refunded' },
      'whsec_of_another_merchant'
    )
    expect(refused.status).to.equal(401)
    expect((await sendEvent(url(), { external_reference: order, status: 'refunded' }, SECRET)).status).to.equal(204)
    // The payment is captured, although the event says otherwise.
    expect(await learnsByWebhook(order)).to.include({ status: 'paid', refunded_cents: 0 })
  })

  it('fits on a phone', async () => {
    const page = await visit(PHONE)
    await typeCard(page, { number: `${GOOD.number.slice(0, -1)}1`, expiry: '1220', cvv: '1' })
    await pay(page)
    await page.getByRole('alert').waitFor()
    const overflows = 'document.documentElement.scrollWidth > innerWidth'
    for (const frame of page.frames()) expect(await frame.evaluate(overflows), frame.url()).to.equal(false)
    const isNumberCut = 'number.scrollWidth > number.clientWidth'
    expect(await page.frames()[1]?.evaluate(isNumberCut), 'the number is cut off').to.equal(false)
    const cutOff = 'document.documentElement.scrollHeight > innerHeight + 1'
    await until('the frame is as high as its contents', async () => !(await page.frames()[1]?.evaluate(cutOff)))
    await page.locator('#card-fields').scrollIntoViewIfNeeded()
    await picture(page, 'shop-phone')
  })

  it('logs no problem in the browser', () => {
    expect(browser.problems).to.deep.equal([])
  })

  function learnsByWebhook(order: string): Promise<Record<string, unknown>> {
    return until('the shop has asked because of a webhook', async () => {
      const state = (await (await fetch(`${url()}/orders/${order}`)).json()) as Record<string, unknown>
      return state['source'] === 'webhook' && state
    })
  }

  describe('under a name of another site', () => {
    it('serves no page under a name of another site that leads to this machine', async () => {
      const status = (headers: Record<string, string>) =>
        new Promise(resolve => {
          request(url(), { method: 'POST', headers }, answer => resolve(answer.resume().statusCode)).end()
        })
      expect(await status({ Host: 'evil.example', Origin: 'http://evil.example' })).to.equal(403)
      expect(await status({})).not.to.equal(403)
    })
  })
})

describe('demo shop when something goes wrong', function () {
  this.timeout(60_000)
  const { service, browser, url, visit } = useShop()

  it('shows the order, and no empty form, to who reloads the page while paying', async () => {
    const page = await visit()
    await typeCard(page, { number: UNANSWERED })
    await Promise.all([page.waitForRequest('**/pay'), pay(page)])
    const order = await page.locator('body').getAttribute('data-order')
    await page.reload()
    await page.getByRole('heading', { name: /under analysis|Thank you/ }).waitFor()
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor()
    const { body } = await call(service(), 'GET', `/v1/payments?external_reference=${order}`)
    expect((body as unknown as { items: object[] }).items).to.have.length(1)
  })

  it('keeps the focus where one goes on: at the button after a refusal, at the outcome after a payment', async () => {
    const page = await visit()
    for (const [number, text, place] of [
      [DECLINED, 'did not approve', 'Pay R$89.90'],
      [GOOD.number, 'Thank you!', 'Thank you!']
    ] as const) {
      await typeCard(page, { number })
      await page.keyboard.press('Tab')
      // The page takes no Enter while it is busy. A click waits for that by itself, a key does not.
      await page.locator('#pay-button[aria-busy="true"]').waitFor({ state: 'detached' })
      await page.keyboard.press('Enter')
      await page.getByText(text).waitFor()
      await until(`the focus is at ${place}`, () =>
        page.evaluate(`document.activeElement.textContent === ${JSON.stringify(place)}`)
      )
    }
  })

  it('tells the merchant why nothing was refunded', async () => {
    const page = await visit()
    await typeCard(page)
    await pay(page)
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor()
    const order = page.locator('#orders tr').first()
    for (const amount of ['500', '600']) {
      await order.getByLabel(/Amount to refund/).fill(amount)
      await order.getByRole('button', { name: 'Refund' }).click()
      await page.getByRole('alert').getByText('more than can be refunded').waitFor()
    }
  })

  it('says so when the card fields cannot be loaded', async () => {
    const page = await browser.open('about:blank')
    await page.route('**/fields.js', route => route.abort())
    await page.goto(url())
    await page.getByRole('alert').getByText('could not be loaded').waitFor()
  })

  it('asks again while it does not know how the order stands', async () => {
    const page = await visit()
    await typeCard(page)
    await page.route('**/orders/order-*', route => route.abort())
    await pay(page)
    await page.getByRole('alert').getByText('does not answer').waitFor()
    await page.unroute('**/orders/order-*')
    await page.getByRole('heading', { name: 'Thank you!' }).waitFor()
  })
})

function sendEvent(shopUrl: string, event: object, secret: string): Promise<Response> {
  const body = JSON.stringify(event)
  const sentAt = Math.floor(Date.now() / 1_000)
  const signature = createHmac('sha256', secret).update(`${sentAt}.${body}`).digest('hex')
  return fetch(`${shopUrl}/webhooks`, {
    method: 'POST',
    headers: { 'X-Service-Signature': `t=${sentAt},v1=${signature}` },
    body
  })
}

async function askForRefund(
  shopUrl: string,
  order: string,
  amountCents: unknown
): Promise<{ status: number; order: Record<string, unknown> }> {
  const body = JSON.stringify({ amount_cents: amountCents })
  const { status } = await fetch(`${shopUrl}/merchant/orders/${order}/refund`, { method: 'POST', body })
  return { status, order: (await (await fetch(`${shopUrl}/orders/${order}`)).json()) as Record<string, unknown> }
}
