/** The inspector in a browser, beside a running service with two payments workers. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { orderIdOf } from '../../../machines/network.js'
import { encodeServiceCommand } from '../../../redis/commands/command-entry.js'
import { keys, partitionOfPayment } from '../../../redis/keys.js'
import { type Inspector, startInspector } from '../../../scripts/inspector/inspector.js'
import { useBrowser } from '../../support/browser.js'
import { until } from '../../support/conditions.js'
import { Merchant, withRedis } from '../../support/merchant.js'
import { useService } from '../../support/service.js'
import { bookedOrders, setFaults } from '../../support/simulator.js'

const VIEWPORT = { width: 1920, height: 1080 }

describe('the inspector', () => {
  const service = useService({ scale: ['payments=2'] })
  const merchant = new Merchant(service)
  const browser = useBrowser()
  let inspector: Inspector
  let page: Page

  const chip = (place: string): Promise<unknown> => page.waitForSelector(`#place:text-is("${place}")`)
  const placesInList = (): Promise<string[]> => page.locator('#side .chip').allTextContents()
  const workersInList = async (): Promise<Set<string | undefined>> => {
    const captions = await page.locator('#side li small').allTextContents()
    return new Set(captions.map(caption => caption.split(' · ')[1]))
  }

  before(async () => {
    inspector = await startInspector({
      port: 0,
      redisAddress: async () => service().redisUrl
    })
    page = await browser.open(inspector.url, { viewport: VIEWPORT })
    await page.waitForSelector('#status:has-text("Connected")')
  })
  after(async () => {
    await setFaults(service(), {})
    await inspector.stop()
  })

  it('follows a payment through create, capture and partial refund, while three others are in progress', async () => {
    // Each worker looks for an inspector once a second: what it does before that comes and goes unseen.
    await until('both workers report', async () => {
      await merchant.create()
      return (await workersInList()).size === 2
    })
    const { id } = (await merchant.create({ capture: false })).payment
    await page.locator(`[data-payment="${id}"]`).click()
    await chip('pre_authorized')
    await setFaults(service(), { late: 1, late_ms: 2_000 })
    const captured = merchant.capture(id)
    await chip('capturing.sending')
    await setFaults(service(), {})
    await captured
    await chip('captured')

    await setFaults(service(), { late: 1, late_ms: 20_000 })
    const slow = await Promise.all([1, 2, 3].map(() => merchant.create({ waitS: 0 })))
    await until('three payments wait for their answers', async () => {
      const booked = await bookedOrders(service())
      return slow.every(({ payment }) => booked.includes(orderIdOf(payment.id)))
    })
    await setFaults(service(), {})
    await merchant.cancel(id, { amount: 2_500 })
    await chip('partially_refunded')
    expect((await placesInList()).filter(place => place === 'pending')).to.have.length(3)
    await takePicture(page, 'inspector.png')

    const events = await page.locator('.history tbody b').allTextContents()
    expect(events).to.deep.equal(['accepted', 'approved', 'capture', 'approved', 'cancel', 'approved'])
    expect(await workersInList()).to.have.property('size', 2)
    expect(await page.locator('#charts .here').count()).to.equal(1)
  })

  it('shows what may come next, and the sale of each answer of the network', async () => {
    const next = await page.locator('.next tbody b').allTextContents()
    expect(next).to.include.members(['cancel', 'network notification'])
    const reference = await page.locator('.history tr:last-child .reference').getAttribute('title')
    expect(reference).to.match(/^[0-9a-f-]{36}$/)
  })

  it('shows a refused command without any change of state', async () => {
    const id = (await page.locator('[data-payment][aria-pressed="true"]').getAttribute('data-payment')) ?? ''
    // The API refuses what the payment cannot take; a command that it accepted may come too late for the worker.
    const fields = encodeServiceCommand(id, { kind: 'capture', amountCents: null })
    await withRedis(service(), redis => redis.xadd(keys.commands(partitionOfPayment(id)), '*', ...fields))
    await page.waitForSelector('.history tr.refused:has-text("invalid_state")')
    await chip('partially_refunded')
  })

  it('loads nothing from other hosts, without an error in the browser', async () => {
    const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(entry => entry.name))
    expect(loaded.filter(url => !url.startsWith(inspector.url))).to.deep.equal([])
    expect(browser.problems).to.deep.equal([])
  })
})

describe('what-if', () => {
  const browser = useBrowser()
  let inspector: Inspector
  let page: Page

  before(async () => {
    inspector = await startInspector({
      port: 0,
      redisAddress: () => Promise.reject(new Error('There is no service.'))
    })
    page = await browser.open(inspector.url, { viewport: VIEWPORT })
  })
  after(() => inspector.stop())

  it('steps a payment by hand without any service', async () => {
    await page.getByRole('button', { name: 'What if' }).click()
    await page.getByRole('button', { name: 'capture: false' }).click()
    for (const step of ['AUTHORISE', 'APPROVED', 'CAPTURE/whole', 'AMBIGUOUS']) {
      await page.locator(`[data-event="${step}"]`).click()
      const words = step.replace(/\/.*/, '').toLowerCase()
      await page.waitForSelector(`.history tr:last-child b:text-is("${words}")`)
    }
    expect(await page.locator('#place').textContent()).to.equal('capturing.reconciling')
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.waitForSelector('[id="state:capturing.reconciling"].here')
    await takePicture(page, 'what-if.png')
  })

  it('can be stepped with the keyboard: a redraw keeps the focus', async () => {
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent')
    await page.getByRole('button', { name: 'Start again' }).press('Enter')
    await page.waitForSelector('#place:text-is("pending")')
    await until('the button has the focus', async () => (await focused()) === 'Start again')
    await page.locator('[data-event="AUTHORISE"]').press('Enter')
    await page.waitForSelector('.history tr:last-child b:text-is("authorise")')
    await until('a button has the focus', () =>
      page.evaluate<boolean>('document.activeElement.matches("#side ol button")')
    )
    await page.locator('[data-event="APPROVED"]').press('Enter')
    await page.waitForSelector('#place:text-is("pre_authorized")')
  })

  it('undoes the last step', async () => {
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.waitForSelector('#place:text-is("pending")')
    expect(browser.problems).to.deep.equal([])
  })
})

/** `npm run pictures` names the folder; an ordinary run leaves the pictures of the docs alone. */
async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES_DIR'] ?? join('dist', 'pictures')
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, name) })
}
