/** The overview on a screen of 1440 px: the lifecycle can be read at a glance, and verification is shown on request. */
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { type Inspector, startInspector } from '../../../scripts/inspector/inspector.js'
import { useBrowser } from '../../support/browser.js'
import { coveredLabels, smallestFontPx } from '../../support/picture-labels.js'

const FONT_MIN_PX = 11
/** Of a chart that is wider than its panel: it is fitted to the width. */
const FITTED_FONT_MIN_PX = 8.5

describe("the inspector's overview of a payment", () => {
  const browser = useBrowser()
  let inspector: Inspector
  let page: Page
  before(async () => {
    inspector = await startInspector({
      port: 0,
      redisAddress: () => Promise.reject(new Error('There is no service.'))
    })
    page = await browser.open(inspector.url, { viewport: { width: 1_440, height: 900 } })
  })
  after(() => inspector?.stop())

  const flip = (): Promise<void> => page.getByRole('switch', { name: 'Verification' }).click()
  const words = async (): Promise<string> => (await page.locator('.edge text').allTextContents()).join(' ')
  const isLegible = async (fontMinPx = FONT_MIN_PX): Promise<void> => {
    expect(await smallestFontPx(page)).to.be.at.least(fontMinPx)
    expect(await coveredLabels(page)).to.deep.equal([])
  }

  it('shows the whole lifecycle without scrolling', async () => {
    await page.locator('.drawing svg').waitFor()
    await isLegible()
    const room = await page.evaluate(`(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.querySelector('.drawing')
      return [scrollWidth <= clientWidth, scrollHeight <= clientHeight]
    })()`)
    expect(room).to.deep.equal([true, true])
    expect(await words())
      .to.contain('capture')
      .and.to.contain('operation failed')
      .and.not.to.match(/resolved|reversed|resumed/)
  })

  it('shows verification on request', async () => {
    await flip()
    await isLegible(FITTED_FONT_MIN_PX)
    expect(await words())
      .to.contain('resolved as booked')
      .and.to.contain('refund reversed')
  })

  it('keeps that in the address of the page', async () => {
    await page.reload()
    await page.locator('.drawing svg').waitFor()
    expect(await words()).to.contain('resolved as booked')
    await flip()
    expect(await words()).not.to.contain('resolved')
    expect(page.url()).to.equal(inspector.url)
  })

  it('has the switch at the overview only', async () => {
    await page.getByRole('button', { name: 'Authorisation' }).click()
    expect(await page.locator('#charts').getByRole('switch').count()).to.equal(0)
    expect(await smallestFontPx(page)).to.be.at.least(FITTED_FONT_MIN_PX)
    expect(browser.problems).to.deep.equal([])
  })
})
