/** The page while payments stream by: a viewer can still follow one of them. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { type ObservedDecision, observePayment } from '../../../redis/operator/inspection.js'
import { type LiveFeed, startLiveFeed } from '../../../scripts/inspector/live.js'
import { createObservedPayments } from '../../../scripts/inspector/observed-payments.js'
import { type InspectorServer, startInspectorServer } from '../../../scripts/inspector/server.js'
import { startRedis } from '../../../scripts/start/embedded-redis.js'
import type { EmbeddedServer } from '../../../scripts/start/embedded-server.js'
import { freePort } from '../../../scripts/start/ports.js'
import { obtainRedis } from '../../../scripts/start/redis-binary.js'
import { useBrowser } from '../../support/browser.js'
import { until } from '../../support/conditions.js'
import { aPayment } from '../../support/payments.js'

describe('the inspector of many payments', () => {
  const browser = useBrowser()
  let server: InspectorServer
  let page: Page

  const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
  const observed = (number: number): ObservedDecision => ({
    ...{ worker: 'payments 1', event: 'AUTHORISE', atMs: 1, refusal: null, effect: null },
    payment: observePayment(aPayment({ terms: { id: idOf(number) } }))
  })
  const move = (...numbers: number[]): void => {
    const payments = createObservedPayments()
    for (const number of numbers) server.send(payments.observe(observed(number)))
  }
  const line = (number: number) => page.locator(`[data-payment="${idOf(number)}"]`)
  const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, k) => from + k)

  beforeEach(async () => {
    server = await startInspectorServer({
      port: 0,
      replay: () => [],
      status: () => 'Connected'
    })
    page = await browser.open(server.url, { viewport: { width: 1_280, height: 800 } })
    await page.waitForSelector('#status:has-text("Connected")')
    move(...range(1, 10))
    await line(10).waitFor()
  })
  afterEach(() => server.stop())

  it('follows the newest payment until one is selected, and again when it is asked to', async () => {
    const selected = () => page.locator('[data-payment][aria-pressed="true"]').getAttribute('data-payment')
    move(2, 11, 3)
    await line(11).waitFor()
    expect(await selected()).to.equal(idOf(11))
    await line(4).click()
    move(12)
    await line(12).waitFor()
    expect(await selected()).to.equal(idOf(4))
    await page.getByRole('switch', { name: 'Follow the newest' }).click()
    expect(await selected()).to.equal(idOf(12))
  })

  it('keeps as many payments as the server, and the selected one', async () => {
    await line(1).click()
    await page.mouse.move(600, 0)
    for (const first of [11, 101, 201, 301]) {
      move(...range(first, first + 99))
      await line(first + 99).waitFor()
    }
    expect(await page.locator('[data-payment]').count()).to.equal(200)
    expect(await line(1).getAttribute('aria-pressed')).to.equal('true')
  })

  it('misses no change that comes during the replay', async () => {
    const payments = createObservedPayments()
    const other = await startInspectorServer({
      port: 0,
      replay: () => {
        setImmediate(() => other.send(payments.observe(observed(500))))
        return range(1, 200).map(number => payments.observe(observed(number)))
      },
      status: () => 'Connected'
    })
    try {
      page = await browser.open(other.url)
      await line(500).waitFor()
    } finally {
      await other.stop()
    }
  })

  it('does not move the list under the mouse, so that a click hits the payment under it', async () => {
    const { x, y } = (await line(7).boundingBox()) ?? { x: 0, y: 0 }
    await page.mouse.move(x + 20, y + 10)
    move(1, 2, 11)
    await line(11).waitFor()
    await page.mouse.down()
    move(3, 7, 12)
    await line(12).waitFor()
    await page.mouse.up()
    expect(await line(7).getAttribute('aria-pressed')).to.equal('true')
    await page.mouse.move(x + 600, y)
    expect(await page.locator('[data-payment]').first().getAttribute('data-payment')).to.equal(idOf(12))
  })
})

describe('the connection of the inspector', () => {
  let dir = ''
  let server: EmbeddedServer | undefined
  let feed: LiveFeed | undefined
  after(async () => {
    await feed?.stop()
    await server?.process.stop(2_000)
    await rm(dir, { recursive: true, force: true })
  })

  it('reports when Redis is unavailable, and when it is back', async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-live-'))
    const port = await freePort()
    const start = async (): Promise<EmbeddedServer> => {
      const binary = await obtainRedis(resolve('.vendor'), () => undefined)
      return startRedis({ kind: 'redis', binary, port, dir, onOutput: () => undefined })
    }
    const says = (words: string): Promise<unknown> => until(words, () => feed?.status().includes(words) ?? false)

    server = await start()
    const { url } = server
    feed = startLiveFeed(
      async () => url,
      () => undefined
    )
    await says('Connected to Redis')
    await server.process.stop(2_000)
    await says('does not answer; reconnecting')
    server = await start()
    await says('Connected to Redis')

    // Ctrl-C while Redis is unavailable does not wait for it.
    await server.process.stop(2_000)
    await says('does not answer; reconnecting')
    await feed.stop()
    feed = undefined
    server = undefined
  })
})
