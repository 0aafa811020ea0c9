import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { type Inspector, startInspector } from '../../../scripts/inspector/inspector.js'
import { useBrowser } from '../../support/browser.js'
import { coveredLabels, smallestFontPx } from '../../support/picture-labels.js'

const FONT_MIN_PX = 11

describe('the inspector on a laptop', () => {
  const browser = useBrowser()
  let inspector: Inspector
  before(async () => {
    // No server listens there: what-if needs no service.
    inspector = await startInspector({
      port: 0,
      redisAddress: async () => 'redis://127.0.0.1:1'
    })
  })
  after(() => inspector?.stop())

  for (const [name, viewport] of [
    ['a laptop', { width: 1280, height: 800 }],
    ['a larger laptop', { width: 1440, height: 900 }]
  ] as const) {
    it(`fits on ${name}, with readable text and the payment in view`, async () => {
      const page = await browser.open(inspector.url, { viewport })
      await page.getByRole('button', { name: 'What if' }).click()
      await page.getByRole('button', { name: 'Charge: refunds and chargebacks' }).click()
      await page.getByRole('button', { name: 'The life of a payment' }).click()
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), 'wider').to.equal(false)
      const here = await boxOf(page, '#charts .here text')
      const chart = await boxOf(page, '.drawing')
      expect(here.height).to.be.greaterThan(7)
      expect(here.x).to.be.within(chart.x, chart.x + chart.width - here.width)
      expect(here.y).to.be.within(chart.y, chart.y + chart.height - here.height)
    })
  }

  for (const width of [1280, 1440, 1920]) {
    it(`clips nothing at ${width} px: charts, the list, and the longest history`, async () => {
      const page = await browser.open(inspector.url, { viewport: { width, height: 800 } })
      await page.getByRole('button', { name: 'What if' }).click()
      await page.getByRole('button', { name: 'capture: false' }).click()
      for (const step of ['AUTHORISE', 'APPROVED', 'CAPTURE/whole', 'APPROVED', 'CANCEL/part', 'APPROVED']) {
        await page.locator(`[data-event="${step}"]`).first().click()
        const words = step.replace(/\/.*/, '').toLowerCase()
        await page.waitForSelector(`.history tr:last-child b:text-is("${words}")`)
      }
      for (const picture of await page.locator('nav[aria-label=Pictures] button:not([role])').all()) {
        await picture.click()
        const clipped = await page.evaluate<string[]>(`['.drawing', '#side', '#details', 'main']
          .filter(selector => document.querySelector(selector).scrollWidth > document.querySelector(selector).clientWidth)`)
        expect(clipped, await picture.innerText()).to.deep.equal([])
      }
    })
  }

  it('shows the whole lifecycle without scrolling, readable at a glance', async () => {
    const page = await browser.open(inspector.url, { viewport: { width: 1_440, height: 900 } })
    await page.locator('.drawing svg').waitFor()
    expect(await smallestFontPx(page)).to.be.at.least(FONT_MIN_PX)
    expect(await coveredLabels(page)).to.deep.equal([])
    const room = await page.evaluate(`(() => {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.querySelector('.drawing')
      return [scrollWidth <= clientWidth, scrollHeight <= clientHeight]
    })()`)
    expect(room).to.deep.equal([true, true])
  })

  it('logs no problem in the browser', () => {
    expect(browser.problems).to.deep.equal([])
  })
})

async function boxOf(page: Page, selector: string): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.locator(selector).first().boundingBox()
  if (box === null) throw new Error(`${selector} is not to be seen`)
  return box
}
