import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { fieldsOf, pay, typeCard, useShop } from './shop-page.js'
import { DECLINED } from './shopping.js'

const EMPTY = ['', '', '', '']

describe('hosted fields, once they are of no use any more', () => {
  const { visit } = useShop()

  const typed = (page: Page) =>
    Promise.all(
      ['Card number', 'Expiry', 'Security code', 'Name on card'].map(name =>
        fieldsOf(page).getByLabel(name).inputValue()
      )
    )

  it('are empty when the card has become a token, also when it is declined', async () => {
    const page = await visit()
    await typeCard(page, { number: DECLINED })
    await pay(page)
    await page.getByRole('alert').getByText('did not approve').waitFor()
    expect(await typed(page)).to.deep.equal(EMPTY)
  })

  it('are empty when the buyer leaves the page and goes back', async () => {
    const page = await visit()
    await typeCard(page)
    expect(await typed(page)).not.to.deep.equal(EMPTY)
    // What a browser does that keeps the page; the one of the tests keeps none.
    await fieldsOf(page)
      .locator('body')
      .evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))')
    expect(await typed(page)).to.deep.equal(EMPTY)
  })
})
