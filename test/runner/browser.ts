/** Headless browsers that connect to nothing but the pages they are shown. */
import { type Browser, chromium, firefox } from 'playwright-core'
import { type BrowserName, obtainBrowser } from './browser-binary.js'
import { adaptToFirefoxEsr } from './firefox-esr.js'

/** Chromium's own services would look for hosts on the internet all the time. Playwright sets the same for Firefox. */
const QUIET = [
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

/** WebDriver of Firefox 140 types into frames of the page's own process only. The origins stay as separate as they are. */
const ONE_PROCESS = { 'fission.webContentIsolationStrategy': 0 }

/** Starts a browser; close it with `close()`. Fetches it first where there is none, which may take a minute. */
export async function launchBrowser(name: BrowserName): Promise<Browser> {
  const { file, env } = await obtainBrowser(name, '.vendor', line => process.stderr.write(`${line}\n`))
  const options = { executablePath: file, env: { ...process.env, ...env } }
  if (name === 'firefox') {
    adaptToFirefoxEsr()
    // A Firefox as Mozilla builds it, over WebDriver BiDi; without the channel, Playwright expects one of its own.
    return await firefox.launch({ ...options, channel: 'moz-firefox', firefoxUserPrefs: ONE_PROCESS })
  }
  return await chromium.launch({
    ...options,
    // Its sandbox refuses to run for root; the pages are our own.
    chromiumSandbox: process.getuid?.() !== 0 && Object.keys(env).length === 0,
    args: QUIET
  })
}
