import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { until } from '../../support/conditions.js'
import { useShop } from './shop-page.js'

describe('hosted fields with a mistake of the merchant’s engineer', () => {
  const { service, browser, visit } = useShop()

  /** What `Service.fields(...)` throws in the page; `given` is the text of its arguments. */
  function thrown(page: Page, given: string): Promise<string> {
    return page.evaluate(`(() => { try { Service.fields(${given}) } catch (error) { return String(error) } })()`)
  }

  it('throw a sentence at once for arguments that cannot work', async () => {
    const page = await visit()
    const options = (more: string): string =>
      `{ publishableKey: '${service().publishableKey}', element: '#card-fields', ${more} }`
    const cases: readonly (readonly [string, string])[] = [
      ['', 'Service.fields needs an object, such as { publishableKey: "svc_test.…", element: "#card-fields" }'],
      ['null', 'Service.fields needs an object'],
      [
        options('colour: "red"'),
        'Service.fields: `colour` is not an option; choose from publishableKey, element, locale'
      ],
      [options('locale: "fr"'), 'Service.fields: `locale` must be en or pt-BR'],
      [options('locale: null'), 'Service.fields: `locale` must be en or pt-BR'],
      [options('onChange: 1'), 'Service.fields: `onChange` must be a function'],
      [options('style: { color: "#fff" }'), '`style.color` is not an option'],
      [options('style: { colorText: "url(//evil.example)" }'), '`style.colorText` must be'],
      [
        `{ publishableKey: 'svc_test.a.b', element: '#card-fields' }`,
        'Service.fields: `publishableKey` must be a publishable key; never put a secret key into a page'
      ],
      [`{ publishableKey: 'svc_test.a' }`, 'Service.fields: `element` is not an element of this page']
    ]
    for (const [given, sentence] of cases) expect(await thrown(page, given), given).to.contain(`TypeError: ${sentence}`)
  })

  it('report a publishable key that the service refuses as soon as they are created', async () => {
    const page = await visit()
    const wrong = 'svc_test.k000000000000000'
    const told = await page.evaluate(`(() => {
      const fields = Service.fields({ publishableKey: '${wrong}', element: '#card-fields' })
      const codeOf = asked => asked.then(() => 'none', error => error.code)
      return Promise.all([codeOf(fields.ready), codeOf(fields.tokenize())])
    })()`)
    expect(told).to.deep.equal(['unauthorized', 'unauthorized'])
    await until('the console of the page tells it', () => browser.problems.some(problem => problem.includes(wrong)))
    expect(browser.problems.join()).to.contain('is refused (unauthorized)')
  })

  it('can be used when the key could not be checked', async () => {
    const page = await visit()
    await page.route('**/v1/fields/key', route => route.abort())
    const made = `Service.fields({ publishableKey: '${service().publishableKey}', element: '#card-fields' })`
    expect(await page.evaluate(`${made}.ready.then(() => 'ready', error => error.code)`)).to.equal('ready')
  })
})
