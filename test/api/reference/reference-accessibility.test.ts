import { expect } from 'chai'
import { seriousProblems } from '../../support/accessibility.js'
import { useBrowser } from '../../support/browser.js'
import { useApi } from '../running-api.js'

/** Of each method one with short answers, and a list of values: opening a long one costs seconds. */
const OPENED = [
  'Webhooks-registerWebhookEndpoint',
  'Cards-eraseCard',
  'Payments-listPayments',
  'Test-sendTestWebhookEvent'
] as const
const TRIED = ['Webhooks-registerWebhookEndpoint', 'Cards-eraseCard'] as const

describe('accessibility audit of the reference page', () => {
  const browser = useBrowser()
  const api = useApi()

  // Colours and widths have no rule in common: each is looked at once.
  for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 390]
  ] as const) {
    it(`finds nothing serious in the login and in opened operations, in ${colorScheme}, at ${width} px`, async () => {
      const page = await browser.open(`${api.url}/docs`, { colorScheme, viewport: { width, height: 900 } })
      const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      expect(background === 'rgb(255, 255, 255)').to.equal(colorScheme === 'light')
      await page.locator('.scheme-container .authorize').click()
      await page.locator('.modal-ux .close-modal').waitFor()
      expect(await seriousProblems(page)).to.deep.equal([])
      await page.locator('.close-modal').click()
      for (const operation of OPENED) {
        await page.locator(`#operations-${operation} .opblock-summary-control`).click()
        await page.locator(`#operations-${operation} .responses-table`).waitFor()
      }
      for (const operation of TRIED) await page.locator(`#operations-${operation} .try-out__btn`).click()
      expect(await seriousProblems(page)).to.deep.equal([])
    })
  }
})
