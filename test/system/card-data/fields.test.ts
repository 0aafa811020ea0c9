import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { browserOfThisRun } from '../../runner/browser-binary.js'
import { until } from '../../support/conditions.js'
import { fieldsOf, GOOD, pay, payButton, typeCard, useShop } from './shop-page.js'
import { DECLINED } from './shopping.js'

describe('hosted fields in a merchant’s page', () => {
  const { service, browser, visit } = useShop()

  it('show the merchant a token and never the card: no request, no message and no script of the page holds it', async () => {
    const page = await visit()
    const sent: string[] = []
    page.on('request', request => {
      if (!request.url().startsWith(service().tokensUrl)) sent.push(`${request.url()} ${request.postData() ?? ''}`)
    })
    // Firefox tells WebDriver no bodies of requests: the page does.
    await page.evaluate(`(() => {
      heard = []
      addEventListener('message', event => heard.push(event.data))
      fetched = []
      const { fetch } = window
      window.fetch = (url, options) => { fetched.push(url + ' ' + options?.body); return fetch(url, options) }
    })()`)
    await typeCard(page, GOOD, 'key by key')
    await pay(page)
    await page.getByText('Thank you!').waitFor()
    const heard = await page.evaluate<string>('JSON.stringify(heard)')
    const fetched = await page.evaluate<string>('JSON.stringify(fetched)')
    const seen = [...sent, heard, fetched, await page.content()].join('\n')
    expect(fetched).to.contain('tok_')
    if (browserOfThisRun() === 'chromium') expect(sent.join('\n')).to.contain('tok_')
    expect(seen).not.to.match(/4024.?0071/)
    expect(seen).not.to.match(/"?cvv"?\s*[:=]/)
    const inside = await page.evaluate<string>(
      '(() => { try { return frames[0].document.body.innerHTML } catch (error) { return error.name } })()'
    )
    expect(inside).to.equal('SecurityError')
  })

  it('listen to the page that opened the channel, and to no later one', async () => {
    const page = await visit()
    await page.evaluate(`(() => {
      heard = []
      const intruder = new MessageChannel()
      intruder.port1.onmessage = ({ data }) => heard.push(data)
      const connect = { type: 'service.fields.connect', publishableKey: 'svc_test.x', locale: 'en', style: {} }
      frames[0].postMessage(connect, '*', [intruder.port2])
      intruder.port1.postMessage({ type: 'tokenize', request: 1 })
    })()`)
    // The page's own channel keeps working; its answers come later than those that must not come.
    await typeCard(page, { cvv: '1' })
    await pay(page)
    await page.getByRole('alert').waitFor()
    expect(await page.evaluate('heard')).to.deep.equal([])
    expect(await page.evaluate('Object.isFrozen(Service)')).to.equal(true)
  })

  it('say so when the connection is lost, and keep what was typed', async () => {
    const page = await visit()
    await typeCard(page)
    await page.route('**/v1/tokens', route => route.abort())
    await pay(page)
    await page.getByRole('alert').getByText('connection was lost').waitFor()
    expect(await fieldsOf(page).getByLabel('Security code').inputValue()).to.equal(GOOD.cvv)
    await page.unroute('**/v1/tokens')
    await pay(page)
    await page.getByText('Thank you!').waitFor()
    expect(browser.problems.filter(problem => !/ERR_FAILED|422/.test(problem))).to.deep.equal([])
    await until('no frame is left', () =>
      page
        .locator('iframe')
        .count()
        .then(count => count <= 1)
    )
  })
})

describe('hosted fields, once they are of no use any more', () => {
  const { visit } = useShop()

  const typed = (page: Page): Promise<string[]> =>
    Promise.all(
      ['Card number', 'Expiry', 'Security code', 'Name on card'].map(name =>
        fieldsOf(page).getByLabel(name).inputValue()
      )
    )

  it('are empty when the card has become a token, and when the buyer leaves the page and goes back', async () => {
    const page = await visit()
    await typeCard(page, { number: DECLINED })
    await pay(page)
    await page.getByRole('alert').getByText('did not approve').waitFor()
    expect((await typed(page)).join('')).to.equal('')
    await typeCard(page)
    expect((await typed(page)).join('')).not.to.equal('')
    // What a browser does that keeps the page; the one of the tests keeps none.
    await fieldsOf(page)
      .locator('body')
      .evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))')
    expect((await typed(page)).join('')).to.equal('')
  })
})

describe('hosted fields that a page moves or takes away', () => {
  const { service, visit } = useShop()

  /** Fields of the test's own, typed into, with what they tell in `told`. */
  async function typedInto(page: Page): Promise<void> {
    await page.evaluate(`(() => {
      told = []
      fields = Service.fields({
        publishableKey: '${service().publishableKey}', element: '#card-fields', onChange: state => told.push(state),
        style: { colorText: '#112233' }
      })
      tokenized = () => fields.tokenize().then(({ brand }) => brand, error => error.code)
    })()`)
    await page.evaluate('fields.ready')
    await typeCard(page)
  }

  it('can be filled in again where they were moved to', async () => {
    const page = await visit()
    await typedInto(page)
    // Moving a frame makes the browser load it anew: what was typed is gone.
    await page.evaluate(`document.querySelector('#pay').prepend(document.querySelector('#card-fields'))`)
    await until('the page hears that they are empty', () => page.evaluate('told.at(-1).isComplete === false'))
    expect(await page.evaluate('tokenized()')).to.equal('invalid_card')
    await typeCard(page)
    const color = await fieldsOf(page).getByLabel('Card number').evaluate('getComputedStyle(document.body).color')
    expect(color, 'the style of the page').to.equal('rgb(17, 34, 51)')
    expect(await page.evaluate('tokenized()')).to.equal('visa')
    await until('the page hears that they are empty again', () => page.evaluate('told.at(-1).isComplete === false'))
  })

  it('stand level beside each other on a phone whose language has long labels', async () => {
    const page = await visit()
    await page.setViewportSize({ width: 330, height: 800 })
    await page.evaluate(`(async () => {
      const fields = Service.fields({
        publishableKey: '${service().publishableKey}', element: '#card-fields', locale: 'pt-BR'
      })
      await fields.ready
    })()`)
    const layout = (await fieldsOf(page)
      .locator('form')
      .evaluate(`({
      labels: [...document.querySelectorAll('[for=expiry], [for=cvv]')].map(label => label.offsetHeight),
      tops: ['expiry', 'cvv'].map(id => document.getElementById(id).getBoundingClientRect().top)
    })`)) as { labels: number[]; tops: number[] }
    expect(layout.labels[1], 'the label of two lines').to.be.greaterThan(layout.labels[0] ?? 0)
    expect(layout.tops[0]).to.equal(layout.tops[1])
  })

  it('end the wait of a buyer whose card was on its way when they were moved', async () => {
    const page = await visit()
    await typedInto(page)
    const answer = page.evaluate(`(() => {
      const answer = tokenized()
      document.querySelector('#pay').prepend(document.querySelector('#card-fields'))
      return answer
    })()`)
    expect(await answer).to.equal('fields_unavailable')
  })

  it('say so when they are asked after they were destroyed, or removed from the page', async () => {
    for (const end of ['fields.destroy()', `document.querySelector('#card-fields').replaceChildren()`]) {
      const page = await visit()
      await typedInto(page)
      await page.evaluate(end)
      expect(await page.evaluate('tokenized()'), end).to.equal('destroyed')
    }
  })

  it('can be used when they come after all, later than one waits for them', async () => {
    const page = await visit()
    await page.clock.install()
    const release = await new Promise<() => void>(resolve => {
      void page.route('**/v1/fields/frame', route => resolve(() => void route.continue()))
      void page.evaluate(`(() => {
        fields = Service.fields({ publishableKey: '${service().publishableKey}', element: '#card-fields' })
        tokenized = () => fields.tokenize().then(({ brand }) => brand, error => error.code)
      })()`)
    })
    await page.clock.fastForward(15_000)
    expect(await page.evaluate('tokenized()')).to.equal('fields_unavailable')
    release()
    await typeCard(page)
    expect(await page.evaluate('tokenized()')).to.equal('visa')
  })

  it('say so at once when they are taken away before they have loaded', async () => {
    const page = await visit()
    const codes = await page.evaluate(`(() => {
      const fields = Service.fields({ publishableKey: '${service().publishableKey}', element: '#card-fields' })
      const codes = [fields.ready, fields.tokenize()].map(asked => asked.then(() => 'none', error => error.code))
      fields.destroy()
      return Promise.all(codes)
    })()`)
    expect(codes).to.deep.equal(['destroyed', 'destroyed'])
  })
})

describe('hosted fields for people', () => {
  const { visit } = useShop()

  it('can be used with the keyboard alone, in the order that one reads', async () => {
    const page = await visit()
    await fieldsOf(page).getByLabel('Card number').focus()
    for (const text of [GOOD.number, GOOD.expiry, GOOD.cvv]) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.type(GOOD.name)
    await page.keyboard.press('Enter')
    await page.getByText('Thank you!').waitFor()
  })

  it('tell screen readers what is wrong, where, and go there', async () => {
    const page = await visit()
    await typeCard(page, { number: `${GOOD.number.slice(0, -1)}1`, expiry: '1320', name: ' ' })
    await pay(page)
    await page.getByRole('alert').getByText('check the marked').waitFor()
    const number = fieldsOf(page).getByLabel('Card number')
    expect(await number.getAttribute('aria-invalid')).to.equal('true')
    expect(await number.getAttribute('aria-describedby')).to.contain('number-error')
    expect(await fieldsOf(page).locator('#number-error').textContent()).to.contain('typing mistake')
    expect(await fieldsOf(page).locator('#expiry-error').textContent()).to.contain('no such month')
    await hasFocus(number)
    for (const [label, autocomplete] of [
      ['Card number', 'cc-number'],
      ['Expiry', 'cc-exp'],
      ['Security code', 'cc-csc'],
      ['Name on card', 'cc-name']
    ] as const) {
      expect(await fieldsOf(page).getByLabel(label).getAttribute('autocomplete')).to.equal(autocomplete)
    }
    await number.fill(GOOD.number)
    expect(await number.getAttribute('aria-invalid')).to.equal('false')
  })

  it('keep the focus in the first wrong field when the browser gives it to the button late', async () => {
    const page = await visit()
    // PRESS_MS of the frame, long enough for a busy machine, which gives the focus later than it.
    await page.addInitScript(`
      const { setTimeout } = window
      window.setTimeout = (work, ms, ...args) => setTimeout(work, ms === 300 ? 120_000 : ms, ...args)
    `)
    await page.reload()
    await typeCard(page, { number: `${GOOD.number.slice(0, -1)}1` })
    // By itself in one press of twenty: the button gets the focus when the frame has marked the field already.
    await page.evaluate(`
      new MutationObserver(() => document.querySelector('#pay-button').focus())
        .observe(document.querySelector('#notice'), { childList: true })
    `)
    await pay(page)
    await page.getByRole('alert').getByText('check the marked').waitFor()
    await hasFocus(fieldsOf(page).getByLabel('Card number'))
  })

  it('let the button be pressed from a field with a mistake, which is marked without moving the button away', async () => {
    const page = await visit()
    await typeCard(page, { name: '' })
    const expiry = fieldsOf(page).getByLabel('Expiry')
    await expiry.fill('1320')
    const { x, y } = await middleOf(payButton(page))
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.waitForTimeout(100)
    await page.mouse.up()
    await page.getByRole('alert').getByText('check the marked').waitFor()
    await hasFocus(expiry)
  })

  it('keep the caret where one corrects a digit, and let one delete separators', async () => {
    const page = await visit()
    const number = fieldsOf(page).getByLabel('Card number')
    await number.pressSequentially('402400715376006')
    await number.press('Home')
    for (let step = 0; step < 4; step++) await number.press('ArrowRight')
    await number.press('Backspace')
    await number.pressSequentially('4')
    expect(await number.inputValue()).to.equal('4024 0071 5376 006')
    expect(await number.evaluate('document.activeElement.selectionStart')).to.be.oneOf([4, 5])
    const expiry = fieldsOf(page).getByLabel('Expiry')
    await expiry.pressSequentially('123')
    for (let keys = 0; keys < 5 && (await expiry.inputValue()) !== ''; keys++) await expiry.press('Backspace')
    expect(await expiry.inputValue()).to.equal('')
  })

  it('refuse a card that is not a published test card, at the number', async () => {
    const page = await visit()
    await typeCard(page, { number: '4111111111111111' })
    await pay(page)
    await fieldsOf(page).getByText('Only published test cards work here.').waitFor()
  })
})

async function hasFocus(field: Locator): Promise<void> {
  const id = await field.getAttribute('id')
  const focused = (): Promise<unknown> => field.evaluate('document.activeElement.id')
  let looks = 0
  // What takes it away again has come by then.
  await until('the field keeps the focus', async () => {
    looks = (await focused()) === id ? looks + 1 : 0
    return looks === 8
  })
}

async function middleOf(element: Locator): Promise<{ x: number; y: number }> {
  await element.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await element.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  return { x: x + width / 2, y: y + height / 2 }
}
