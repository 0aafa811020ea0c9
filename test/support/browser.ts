/** A browser for tests: one for the whole run, a fresh profile for each page. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../runner/browser.js'
import { browserOfThisRun } from '../runner/browser-binary.js'
import { afterLastTest } from './after-last-test.js'

export interface TestBrowser {
  /** A page in a profile of its own; what it logs as errors is collected in `problems`. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  /** Uncaught errors and console errors of all pages of this `describe`. */
  readonly problems: readonly string[]
}

/** What a page waits for comes within seconds, also on a machine that is busy. */
const WAIT_MAX_MS = 180_000

let running: Promise<Browser> | undefined

/** Call it inside a `describe`: what a test opens is closed after it, what a hook opens after the last test. */
export function useBrowser(): TestBrowser {
  const problems: string[] = []
  const pages: { readonly page: Page; readonly isOfTest: boolean }[] = []
  let isInTest = false
  const close = async (ended: readonly { readonly page: Page }[]): Promise<void> => {
    await Promise.all(ended.map(({ page }) => page.context().close()))
  }
  before(async () => {
    await theBrowser()
  })
  beforeEach(() => {
    isInTest = true
  })
  // An open page keeps its processes, and works.
  afterEach(async () => {
    isInTest = false
    const ended = pages.filter(({ isOfTest }) => isOfTest)
    pages.splice(0, pages.length, ...pages.filter(({ isOfTest }) => !isOfTest))
    await close(ended)
  })
  after(() => close(pages))
  return {
    problems,
    async open(url, options) {
      const context = await (await theBrowser()).newContext(options)
      context.setDefaultTimeout(WAIT_MAX_MS)
      const page = await context.newPage()
      pages.push({ page, isOfTest: isInTest })
      page.on('pageerror', error => problems.push(error.message))
      page.on('console', message => message.type() === 'error' && problems.push(message.text()))
      await page.goto(url)
      return page
    }
  }
}

function theBrowser(): Promise<Browser> {
  if (running === undefined) {
    const launched = launchBrowser(browserOfThisRun())
    afterLastTest(() => launched.then(browser => browser.close()).catch(() => undefined))
    running = launched
  }
  return running
}
