/** A headless Chromium that connects to nothing but the pages it is shown. */
import { type Browser, chromium } from 'playwright-core'
import { obtainChromium } from './chromium-binary.js'

/** Chromium's own services would look for hosts on the internet all the time. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

/** Starts a browser; close it with `close()`. Fetches Chromium first where there is none, which may take a minute. */
export async function launchBrowser(): Promise<Browser> {
  const { file, env } = await obtainChromium('.vendor', line => process.stderr.write(`${line}\n`))
  return await chromium.launch({
    executablePath: file,
    // Its sandbox refuses to run for root; the pages are our own.
    chromiumSandbox: process.getuid?.() !== 0 && Object.keys(env).length === 0,
    args: QUIET,
    env: { ...process.env, ...env }
  })
}
