/** The page inside the iframe. It connects to the merchant's page, shows the fields, and sends it tokens only. */
import { type CardForm, createCardForm, elementOf } from './card-form.js'
import { type Connect, type Refusal, type Report, readConnect, readOrder } from './protocol.js'
import { cssVariables } from './style-options.js'
import { localeFor, type Texts, texts } from './texts.js'
import { keyRefusal, tokenize, tokenizeCvv } from './tokenize.js'

window.addEventListener('message', function onMessage(event) {
  // Accepts only the page that embeds this frame, and only once.
  const connect = event.source === window.parent ? readConnect(event.data) : null
  const [port] = event.ports
  if (connect === null || port === undefined) return
  window.removeEventListener('message', onMessage)
  begin(connect, port)
})

function begin(connect: Connect, port: MessagePort): void {
  const locale = localeFor(connect.locale)
  const language = texts[locale]
  document.documentElement.lang = locale
  document.title = connect.cvvOf === undefined ? language.frameTitle : language.labels.cvv
  applyStyle(connect.style)
  if (connect.cvvOf === undefined) showTestHint(connect.publishableKey, language)

  const report = (message: Report): void => port.postMessage(message)
  const formElement = elementOf('#card', HTMLFormElement)
  let isGone = false
  const onChange = (): void => {
    // A frame that was moved is loaded anew; fields.js tells when that one can be filled in.
    if (!isGone) report({ type: 'change', brand: form.brand(), isComplete: form.isComplete() })
  }
  const form = createCardForm(formElement, language, onChange, connect.cvvOf)
  formElement.addEventListener('submit', event => {
    event.preventDefault()
    report({ type: 'submit' })
  })
  const sendHeight = (): void => report({ type: 'height', px: Math.ceil(document.body.getBoundingClientRect().height) })
  new ResizeObserver(sendHeight).observe(document.body)

  window.addEventListener('pagehide', ({ persisted }) => {
    isGone = !persisted
    // A browser may keep the page that a buyer leaves, and shows it again as it was.
    form.empty()
  })

  let isBusy = false
  port.onmessage = async ({ data }: MessageEvent<unknown>) => {
    const order = readOrder(data)
    if (order?.type === 'focus') form.focus()
    if (order?.type !== 'tokenize') return
    const { request } = order
    if (isBusy) {
      const refusal = { code: 'busy', message: language.failures.busy, fields: [] }
      return report({ type: 'refusal', request, refusal })
    }
    isBusy = true
    const answer = await fulfil(request, form, connect, language)
    // The end of the frame also ends its request; fields.js knows the reason.
    if (!isGone) report(answer)
    isBusy = false
  }
  sendHeight()
  void keyRefusal(connect.publishableKey).then(code =>
    report(code === null ? { type: 'ready' } : { type: 'key_refused', code })
  )
}

async function fulfil(
  request: number,
  form: CardForm,
  { publishableKey, cvvOf }: Connect,
  language: Texts
): Promise<Report> {
  const found = form.check()
  if (found.length > 0) return { type: 'refusal', request, refusal: refusalOf(Object.fromEntries(found), language) }
  form.lock(true)
  const result = await (cvvOf === undefined ? tokenize : tokenizeCvv)(publishableKey, form.card())
  form.lock(false)
  if (result.kind === 'token') {
    form.empty()
    return { type: 'token', request, token: result.token }
  }
  if (result.kind === 'problems') {
    form.mark(result.problems)
    return { type: 'refusal', request, refusal: refusalOf(result.problems, language) }
  }
  return {
    type: 'refusal',
    request,
    refusal: { code: result.code, message: language.failures[result.text], fields: [] }
  }
}

function refusalOf(problems: Parameters<CardForm['mark']>[0], language: Texts): Refusal {
  const fields = Object.entries(problems).map(([path, problem]) => ({ path, message: language.problems[problem] }))
  return { code: 'invalid_card', message: language.failures.invalid_card, fields }
}

/** fields.js has checked the options too. A wrong one is ignored: it must not prevent a sale. */
function applyStyle(style: Connect['style']): void {
  for (const [option, value] of Object.entries(style)) {
    try {
      for (const [name, text] of cssVariables({ [option]: value }))
        document.documentElement.style.setProperty(name, text)
    } catch {
      // The default of frame.css remains.
    }
  }
}

function showTestHint(publishableKey: string, { testHint }: Texts): void {
  const hint = elementOf('#test-hint', HTMLElement)
  hint.textContent = testHint
  hint.hidden = !publishableKey.startsWith('svc_test.')
}
