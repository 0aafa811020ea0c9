import { expect } from 'chai'
import { seriousProblems } from '../../support/accessibility.js'
import { fieldsOf, pay, replaceFields, typeCard, useShop } from './shop-page.js'
import { DECLINED } from './shopping.js'

describe('accessibility audit of the shop and the hosted fields', () => {
  const { service, browser, url, visit } = useShop()

  for (const [colorScheme, locale, number] of [
    ['light', 'en', 'Card number'],
    ['dark', 'pt-BR', 'Número do cartão']
  ] as const) {
    it(`finds nothing serious in an order with a refund, and in fields with mistakes: ${locale}, ${colorScheme}`, async () => {
      const page = await browser.open(url(), { colorScheme })
      await fieldsOf(page).getByLabel('Card number').waitFor()
      await typeCard(page, { number: DECLINED })
      await pay(page)
      await page.getByRole('alert').getByText('did not approve').waitFor()
      await typeCard(page)
      await pay(page)
      await page.getByText('Thank you!').waitFor()
      const order = page.locator('#orders tr').first()
      await order.getByLabel('Amount').fill('10,00')
      await order.getByRole('button', { name: 'Refund' }).click()
      await order.getByText('partially refunded').waitFor()
      expect(await seriousProblems(page)).to.deep.equal([])

      await page.goto(url())
      await fieldsOf(page).getByLabel('Card number').waitFor()
      await replaceFields(page, { publishableKey: service().publishableKey, element: '#card-fields', locale })
      await fieldsOf(page).getByLabel(number).fill('4024')
      await pay(page)
      await fieldsOf(page).locator('#number-error').getByText(/\w/).waitFor()
      expect(await seriousProblems(page)).to.deep.equal([])
    })
  }

  it('finds a field without a label, and a text that is too pale', async () => {
    const page = await visit()
    const frame = fieldsOf(page).locator('body')
    await frame.evaluate(`document.querySelector('label[for=name]').remove()`)
    await frame.evaluate(`document.querySelector('label[for=cvv]').style.color = '#ddd'`)
    const problems = (await seriousProblems(page)).join('\n')
    expect(problems).to.contain('critical label: #name').and.to.contain('serious color-contrast')
  })
})
