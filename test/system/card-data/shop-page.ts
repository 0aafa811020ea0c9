/** The shop's page as a buyer sees it. */
import type { FrameLocator, Locator, Page, ViewportSize } from 'playwright-core'
import { startShop } from '../../../scripts/shop/server.js'
import { type TestBrowser, useBrowser } from '../../support/browser.js'
import { type ServiceUnderTest, useService } from '../../support/service.js'
import { QUICK } from './shopping.js'

export interface TypedCard {
  readonly number: string
  readonly expiry: string
  readonly cvv: string
  readonly name: string
}

export const GOOD: TypedCard = { number: '4024007153760060', expiry: '1230', cvv: '123', name: 'Ada Lovelace' }

export interface OpenShop {
  readonly service: () => ServiceUnderTest
  readonly browser: TestBrowser
  readonly url: () => string
  /** The page of the shop, with fields that can be typed into. */
  visit(viewport?: ViewportSize): Promise<Page>
}

/** Call it inside a `describe`: a shop beside the service that the files of this folder share. */
export function useShop(): OpenShop {
  const service = useService(QUICK)
  const browser = useBrowser()
  let shop: Awaited<ReturnType<typeof startShop>> | undefined
  before(async () => {
    const { baseUrl, tokensUrl, apiKey, publishableKey } = service()
    shop = await startShop({ baseUrl, tokensUrl, apiKey, publishableKey }, 0)
  })
  after(() => shop?.stop())
  const url = (): string => shop?.url ?? ''
  return {
    service,
    browser,
    url,
    visit: async viewport => {
      const page = await browser.open(url(), viewport && { viewport })
      await fieldsOf(page).getByLabel('Card number').waitFor()
      return page
    }
  }
}

/** The fields inside the iframe; their labels are those of the language. */
export function fieldsOf(page: Page): FrameLocator {
  return page.frameLocator('#card-fields iframe')
}

/** Types a card: each field at once, as a browser fills it in, or key by key, which takes ten times as long. */
export async function typeCard(
  page: Page,
  changes: Partial<TypedCard> = {},
  how: 'at once' | 'key by key' = 'at once'
): Promise<void> {
  const card = { ...GOOD, ...changes }
  for (const [label, text] of [
    ['Card number', card.number],
    ['Expiry', card.expiry],
    ['Security code', card.cvv],
    ['Name on card', card.name]
  ] as const) {
    const field = fieldsOf(page).getByLabel(label)
    await field.fill(how === 'at once' ? text : '')
    if (how === 'key by key') await field.pressSequentially(text)
  }
}

/** Clicks on the button to pay, when it can be clicked. */
export async function pay(page: Page): Promise<void> {
  await payButton(page).click()
}

export function payButton(page: Page): Locator {
  return page.getByRole('button', { name: /^Pay R/ })
}

/** Fields of the test's own making, in the place of those of the shop. */
export function replaceFields(page: Page, options: object): Promise<void> {
  return page.evaluate(given => {
    const service: { fields(options: object): { ready: Promise<void> } } = Reflect.get(globalThis, 'Service')
    return service.fields(given).ready
  }, options)
}
