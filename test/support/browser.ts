/** A browser for tests: one for the whole run, a fresh profile for each page. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchBrowser } from '../runner/browser.js'
import { browserOfThisRun } from '../runner/browser-binary.js'

export interface TestBrowser {
  /** A page in a profile of its own; what it logs as errors is collected in `problems`. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  /** Uncaught errors and console errors of all pages of this `describe`. */
  readonly problems: readonly string[]
}

/** Fetching a browser on a machine that has none. */
const FETCH_DEADLINE_MS = 300_000

let running: Promise<Browser> | undefined

/** Call it inside a `describe`: pages are closed after its tests. */
export function useBrowser(): TestBrowser {
  const problems: string[] = []
  const pages: Page[] = []
  before(async function () {
    this.timeout(FETCH_DEADLINE_MS)
    running ??= launchBrowser(browserOfThisRun())
    await running
  })
  after(async () => {
    await Promise.all(pages.map(page => page.context().close()))
  })
  return {
    problems,
    async open(url, options) {
      if (running === undefined) throw new Error('useBrowser: there is a browser inside hooks and tests only')
      const context = await (await running).newContext(options)
      const page = await context.newPage()
      pages.push(page)
      page.on('pageerror', error => problems.push(error.message))
      page.on('console', message => message.type() === 'error' && problems.push(message.text()))
      await page.goto(url)
      return page
    }
  }
}

/** Closes what `useBrowser` started. Called once, after the last test. */
export async function stopTestBrowser(): Promise<void> {
  const browser = running
  running = undefined
  await (await browser?.catch(() => undefined))?.close()
}
