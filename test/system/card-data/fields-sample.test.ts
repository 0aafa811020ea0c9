/** The sample of docs/HOSTED_FIELDS.md, pasted into a page, and the fields in a dark page. */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { close, listen } from '../../../runtime/ops-server.js'
import { until } from '../../support/conditions.js'
import { fieldsOf, typeCard, useShop } from './shop-page.js'

const CARD = { number: '4024007153760060', expiry: '1230', cvv: '123', name: 'Ada Lovelace' }
const DARK = '<style>body { background: #14171c; color: #eceff4; margin: 40px }</style>'

describe('the sample page of the hosted fields', () => {
  const { service, browser } = useShop()
  const state: { server?: Server; head: string; policy: string | null; paid: unknown[]; answer: object } = {
    head: '',
    policy: null,
    paid: [],
    answer: {}
  }

  function sample(): string {
    const [, html = ''] =
      /## In your page\n\n```html\n([\s\S]*?)```/.exec(readFileSync('docs/HOSTED_FIELDS.md', 'utf8')) ?? []
    const { tokensUrl, publishableKey } = service()
    return html.replace('{tokens}', tokensUrl).replace('svc_test.…', publishableKey)
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { url, method, headers } = request
    if (url === '/pay' && method === 'POST') {
      request.setEncoding('utf8').once('data', body => {
        state.paid.push(headers['content-type'], JSON.parse(String(body)))
        response.setHeader('Content-Type', 'application/json').end(JSON.stringify(state.answer))
      })
      return
    }
    if (state.policy !== null) response.setHeader('Content-Security-Policy', state.policy)
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(
      url === '/thank-you' ? 'Thank you!' : `<!doctype html><html lang="en">${state.head}<body>${sample()}</body>`
    )
  }

  before(async () => {
    state.server = createServer(answer)
    await listen(state.server, 0, '127.0.0.1')
  })
  beforeEach(() => Object.assign(state, { head: '', policy: null, paid: [], answer: { paid: true } }))
  after(() => (state.server ? close(state.server) : undefined))

  async function open(): Promise<Page> {
    const { port } = (state.server as Server).address() as AddressInfo
    return await browser.open(`http://127.0.0.1:${port}/`)
  }

  it('pays: the button waits for the fields and for the answer, which is acted on', async () => {
    const page = await open()
    const button = page.getByRole('button', { name: 'Pay' })
    await typeCard(page, CARD)
    await until('the button can be pressed', () => button.isEnabled())
    await button.click()
    await page.getByText('Thank you!').waitFor()
    expect(state.paid[0]).to.equal('application/json')
    expect(JSON.stringify(state.paid[1])).to.match(/^\{"token_id":"tok_\w+"\}$/)
  })

  it('shows why it was not paid, and lets the buyer try again', async () => {
    state.answer = { paid: false, notice: 'O banco não aprovou a compra.' }
    const page = await open()
    await typeCard(page, CARD)
    const button = page.getByRole('button', { name: 'Pay' })
    await until('the button can be pressed', () => button.isEnabled())
    await button.click()
    await page.getByText('O banco não aprovou a compra.').waitFor()
    await until('the button can be pressed again', () => button.isEnabled())
    await button.click()
    await page.getByText('Please check the marked card details.').waitFor()
    expect(state.paid, 'the security code has to be typed anew').to.have.length(2)
  })

  it('says so when the page blocks the frame', async () => {
    state.policy = `frame-src 'none'`
    const page = await open()
    await page.getByText('The card fields could not be loaded').waitFor()
    expect(await page.getByRole('button', { name: 'Pay' }).isDisabled()).to.equal(true)
  })

  it('says so when the script is blocked', async () => {
    state.policy = `script-src 'unsafe-inline'`
    const page = await open()
    await page.getByText('The card fields could not be loaded').waitFor()
  })

  it('can be read on a dark page, with mistakes, too', async () => {
    state.head = DARK
    const page = await open()
    await typeCard(page, { ...CARD, cvv: '1', expiry: '1399' })
    const button = page.getByRole('button', { name: 'Pay' })
    await until('the button can be pressed', () => button.isEnabled())
    await button.click()
    const frame = fieldsOf(page)
    await frame.getByText('There is no such month.').waitFor()
    await frame.getByText('3 digits, on the back').waitFor()
    const colors = await frame.locator('#card').evaluate(`(() => {
      const of = (selector, property) => getComputedStyle(document.querySelector(selector))[property]
      return {
        page: ['label', '#cvv-error', '#test-hint'].map(selector => of(selector, 'color')),
        input: [of('input', 'color'), of('input', 'backgroundColor')]
      }
    })()`)
    const { page: texts, input } = colors as { page: string[]; input: [string, string] }
    for (const text of texts) expect(contrast(text, 'rgb(20, 23, 28)'), text).to.be.at.least(7)
    expect(contrast(...input)).to.be.at.least(7)
  })
})

/** Of WCAG 2: 4.5 is the least for text. */
function contrast(one: string, other: string): number {
  const luminance = (color: string): number => {
    const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map(part => {
      const share = Number(part) / 255
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}
