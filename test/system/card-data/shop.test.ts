import { request } from 'node:http'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { until } from '../../support/conditions.js'
import { Merchant, type PaymentView } from '../../support/merchant.js'
import { fieldsOf, GOOD, pay, typeCard, useShop } from './shop-page.js'
import { CANCELLED, DECLINED } from './shopping.js'

const DESKTOP = { width: 1_180, height: 1_060 }
const PHONE = { width: 360, height: 800 }
/** `npm run pictures` sets it: pictures of the shop are written there. */
const PICTURES = process.env['PICTURES_DIR']

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png` })
}

describe('demo shop in a real browser', () => {
  const { service, url, visit } = useShop()

  const orderOf = (page: Page): string => page.url().split('/').at(-1) ?? ''
  const outcome = (page: Page, title: string | RegExp): Promise<void> =>
    page.locator('#outcome').getByRole('heading', { name: title }).waitFor()
  const row = (page: Page) => page.locator('#orders tr').filter({ hasText: orderOf(page) })
  const merchant = new Merchant(service)
  const paymentsOf = async (page: Page): Promise<readonly PaymentView[]> =>
    (await merchant.get<{ items: PaymentView[] }>(`/v1/payments?external_reference=${orderOf(page)}`)).items
  const move = async (page: Page, amount: string, button: 'Capture' | 'Cancel' | 'Refund'): Promise<void> => {
    await row(page).getByLabel('Amount').fill(amount)
    await row(page).getByRole('button', { name: button }).click()
  }
  const paid = async (): Promise<Page> => {
    const page = await visit(DESKTOP)
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    return page
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
    await move(page, '10,00', 'Refund')
    await row(page).getByText('partially refunded').waitFor()
    await row(page).getByText('R$10.00').waitFor()
    await move(page, '', 'Refund')
    await outcome(page, 'Refunded')
  })

  it('says why a card was declined, and takes another one for the same order', async () => {
    const page = await visit(DESKTOP)
    await typeCard(page, { number: DECLINED })
    await pay(page)
    await page.getByRole('alert').getByText('The bank did not approve the purchase.').waitFor()
    await typeCard(page)
    await pay(page)
    await outcome(page, 'Thank you!')
    expect((await paymentsOf(page)).map(({ status }) => status)).to.deep.equal(['captured', 'failed'])
  })

  it('sends a card once that the brand does not allow to be tried again', async () => {
    const page = await visit()
    for (const _ of [1, 2]) {
      await typeCard(page, { number: CANCELLED })
      await pay(page)
      await page.locator('#pay-button[aria-busy="false"]').waitFor()
      await page.getByRole('alert').getByText('The bank did not accept this card.').waitFor()
      expect(await paymentsOf(page)).to.have.length(1)
    }
  })

  it('moves no money for an invalid amount, or for more than is left', async () => {
    const page = await paid()
    const [payment] = await paymentsOf(page)
    for (const amount of ['1.234,56', 'ten', '-5', ' ']) {
      await move(page, amount, 'Refund')
      // The same past the page: the shop's server does not rely on the browser.
      const body = JSON.stringify({ amount_cents: amount, key: amount })
      const { status } = await fetch(`${url()}/merchant/payments/${payment?.['id']}/cancel`, { method: 'POST', body })
      expect(status).to.equal(400)
    }
    await move(page, '500', 'Refund')
    await page.getByRole('alert').getByText('No money was moved.').waitFor()
    expect((await paymentsOf(page))[0]?.['refunded_cents']).to.equal(0)
  })
})

describe('the page of the demo shop', () => {
  const { url, visit } = useShop()

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

  it('refuses a host name of another site that resolves to this machine', async () => {
    const status = (headers: Record<string, string>) =>
      new Promise(resolve => {
        request(url(), { method: 'POST', headers }, answer => resolve(answer.resume().statusCode)).end()
      })
    expect(await status({ Host: 'evil.example', Origin: 'http://evil.example' })).to.equal(403)
    expect(await status({})).not.to.equal(403)
  })
})
