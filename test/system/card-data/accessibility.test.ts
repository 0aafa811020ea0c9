import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { seriousProblems } from '../../support/accessibility.js'
import { fieldsOf, pay, replaceFields, typeCard, useShop } from './shop-page.js'
import { DECLINED } from './shopping.js'

const LOCALES = [
  ['en', 'Card number'],
  ['pt-BR', 'Número do cartão']
] as const

describe('accessibility audit of the shop and the hosted fields', () => {
  const { service, browser, url, visit } = useShop()

  const finds = async (page: Page, ...problems: string[]): Promise<void> => {
    expect(await seriousProblems(page)).to.deep.equal(problems)
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`finds nothing serious from the empty form to a refund, in ${colorScheme}`, async () => {
      const page = await browser.open(url(), { colorScheme })
      await fieldsOf(page).getByLabel('Card number').waitFor()
      await finds(page)
      await typeCard(page, { number: DECLINED })
      await pay(page)
      await page.getByRole('alert').getByText('did not approve').waitFor()
      await finds(page)
      await typeCard(page)
      await pay(page)
      await page.getByText('Thank you!').waitFor()
      await finds(page)
      const order = page.locator('#orders tr').first()
      await order.getByLabel('Amount').fill('10,00')
      await order.getByRole('button', { name: 'Refund' }).click()
      await order.getByText('partially refunded').waitFor()
      await finds(page)
    })

    for (const [locale, number] of LOCALES) {
      it(`finds nothing serious in fields with mistakes, in ${locale}, in ${colorScheme}`, async () => {
        const page = await browser.open(url(), { colorScheme })
        await fieldsOf(page).getByLabel('Card number').waitFor()
        const options = { publishableKey: service().publishableKey, element: '#card-fields', locale }
        await replaceFields(page, options)
        await finds(page)
        await fieldsOf(page).getByLabel(number).fill('4024')
        await pay(page)
        await fieldsOf(page).locator('#number-error').getByText(/\w/).waitFor()
        await finds(page)
      })
    }
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
