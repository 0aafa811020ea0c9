import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { seriousProblems } from '../../support/accessibility.js'
import { until } from '../../support/conditions.js'
import { Merchant } from '../../support/merchant.js'
import { fieldsOf, useShop } from './shop-page.js'

describe('the hosted field for the security code of a stored card', () => {
  const { service, visit } = useShop()
  const merchant = new Merchant(service)

  /** The field in the place of the card fields; `told` is what it reports. */
  async function field(more = ''): Promise<Page> {
    const page = await visit()
    await page.evaluate(`(() => {
      told = []
      field = Service.cvvField({
        publishableKey: '${service().publishableKey}', element: '#card-fields', locale: 'en',
        onChange: ({ isComplete }) => told.push(isComplete), ${more}
      })
      tokenized = () => field.tokenize().catch(({ code, fields }) => ({ code, fields }))
    })()`)
    await page.evaluate('field.ready')
    return page
  }

  it('is alone, and its token pays with the card', async () => {
    const page = await field()
    const code = fieldsOf(page).getByLabel('Security code')
    expect(await fieldsOf(page).locator('input:visible').count()).to.equal(1)
    expect(await page.locator('#card-fields iframe').getAttribute('title')).to.equal('Security code')
    expect(await code.getAttribute('placeholder')).to.equal('3 or 4 digits')
    expect(await seriousProblems(page)).to.deep.equal([])
    await page.evaluate('field.focus()')
    await until('the field has the focus', () => code.evaluate('document.activeElement.id === "cvv"'))
    await code.pressSequentially('12a37')
    await until('the page hears that it is complete', () => page.evaluate('told.at(-1) === true'))
    const token = await page.evaluate<{ token_id: string }>('tokenized()')
    expect(token).to.have.all.keys('token_id', 'expires_at')
    expect(await code.inputValue()).to.equal('')

    const source = { ...(await merchant.storeCard()), cvv_token_id: token.token_id }
    expect((await merchant.create({ source })).payment.status).to.equal('captured')
  })

  it('marks a code that its card cannot have', async () => {
    for (const [more, code, message] of [
      ['', '12', 'Amex has 4'],
      [`brand: 'visa'`, '1234', ''],
      [`brand: 'amex'`, '123', 'has 4 digits, on the front']
    ] as const) {
      const page = await field(more)
      await fieldsOf(page).getByLabel('Security code').fill(code)
      const result = await page.evaluate<{ code?: string; token_id?: string }>('tokenized()')
      // Digits beyond those of the brand are not taken.
      if (message === '') expect(result.token_id).to.match(/^cvt_/)
      else {
        expect(result.code).to.equal('invalid_card')
        await fieldsOf(page).locator('#cvv-error').getByText(message).waitFor()
        expect(await seriousProblems(page)).to.deep.equal([])
      }
    }
  })

  it('names an option that it does not take', async () => {
    const page = await visit()
    const thrown = (options: string): Promise<string> =>
      page.evaluate(`(() => { try { Service.cvvField(${options}) } catch (error) { return String(error) } })()`)
    const place = `publishableKey: '${service().publishableKey}', element: '#card-fields'`
    expect(await thrown(`{ ${place}, card: 1 }`)).to.contain('Service.cvvField: `card` is not an option; choose from')
    expect(await thrown(`{ ${place}, brand: 1 }`)).to.contain('Service.cvvField: `brand` must be the brand')
    expect(
      await page.evaluate(`(() => {
      try { Service.fields({ ${place}, brand: 'visa' }) } catch (error) { return String(error) }
    })()`)
    ).to.contain('Service.fields: `brand` is not an option')
  })
})
