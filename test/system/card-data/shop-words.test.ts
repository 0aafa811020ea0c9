import { expect } from 'chai'
import { fieldsOf, GOOD, pay, typeCard, useShop } from './shop-page.js'
import { call } from './shopping.js'

const PHONE = { width: 360, height: 800 }
/** Declined for good: `may_retry` is false. */
const CANCELLED = '4024007153760037'

describe('what the demo shop tells buyers', function () {
  this.timeout(60_000)
  const { service, browser, url, visit } = useShop()

  it('does not send a card again that the brand does not allow, and takes another one', async () => {
    const page = await visit()
    const attempts = async (): Promise<number> => {
      const order = await page.locator('body').getAttribute('data-order')
      const { body } = await call(service(), 'GET', `/v1/payments?external_reference=${order}`)
      return (body as unknown as { items: object[] }).items.length
    }
    for (const _ of [1, 2]) {
      await typeCard(page, { number: CANCELLED })
      await pay(page)
      await page.locator('#pay-button[aria-busy="false"]').waitFor()
      await page.getByRole('alert').getByText('The bank did not accept this card.').waitFor()
      expect(await attempts()).to.equal(1)
    }
    await typeCard(page)
    await pay(page)
    await page.locator('#outcome').getByRole('heading', { name: 'Thank you!' }).waitFor()
  })

  it('speaks Portuguese to a browser that does, with amounts as Brazil writes them, and shows that it works', async () => {
    const page = await browser.open(url(), { locale: 'pt-BR', viewport: PHONE })
    const field = fieldsOf(page).getByLabel('Número do cartão')
    await field.fill(CANCELLED)
    for (const [label, text] of [
      ['Validade', GOOD.expiry],
      ['Código de segurança', GOOD.cvv],
      ['Nome no cartão', GOOD.name]
    ] as const) {
      await fieldsOf(page).getByLabel(label).fill(text)
    }
    const button = page.getByRole('button', { name: /^Pagar R\$\s89,90$/ })
    const release = await new Promise<() => void>(resolve => {
      void page.route('**/pay', route => resolve(() => void route.continue()))
      void button.click()
    })
    await page.getByRole('button', { name: 'Pagando …' }).waitFor()
    const spinner = `getComputedStyle(document.querySelector('#pay-button'), '::before').animationName`
    expect(await page.evaluate(spinner)).to.equal('turn')
    release()
    await page.getByRole('alert').getByText('O banco não aceitou este cartão.').waitFor()
    expect(await page.evaluate('document.documentElement.lang')).to.equal('pt-BR')
    const english = /\b(the|your|card|order|paid|refund)\b/i
    expect((await page.locator('body').innerText()).replaceAll(/order-\w+/g, '')).not.to.match(english)
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).to.equal(false)
  })
})
