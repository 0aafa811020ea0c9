// The page of the shop. `Service.fields` comes from the payment service; everything else is the shop's own.
// @ts-check

const { order: orderId = '', publishableKey = '', priceCents = '0' } = document.body.dataset
const POLL_MS = 700
/** The texts of the page are its own in English, and these for a browser that prefers Portuguese. */
const PORTUGUESE = {
  'Demo shop': 'Loja de demonstração',
  'Serra coffee beans, 1 kg': 'Café Serra em grãos, 1 kg',
  'Grown at 1,200 m, roasted on Tuesdays, on its way to you on Wednesday.':
    'Cultivado a 1.200 m, torrado às terças, enviado a você na quarta.',
  'Delivery to': 'Entrega para',
  Shipping: 'Frete',
  Free: 'Grátis',
  'Pay by card': 'Pagar com cartão',
  Pay: 'Pagar',
  'Paying …': 'Pagando …',
  'Your card details go straight to the payment service. This shop never sees them.':
    'Os dados do cartão vão direto ao serviço de pagamento. Esta loja nunca os vê.',
  Order: 'Pedido',
  Card: 'Cartão',
  'Learned by': 'Como soubemos',
  'Order another bag': 'Pedir outro pacote',
  "The merchant's side": 'O lado da loja',
  'In a real shop this is behind the login of its staff.': 'Numa loja real, isto fica atrás do login da equipe.',
  Status: 'Situação',
  Paid: 'Pago',
  Refunded: 'Devolvido',
  'Give back': 'Devolver',
  'No orders yet.': 'Ainda não há pedidos.',
  'Thank you!': 'Obrigado!',
  'Your order is paid. The beans leave on Wednesday.': 'Seu pedido está pago. O café sai na quarta.',
  'Your payment is under analysis': 'Seu pagamento está em análise',
  'The card network has not answered yet. You need not do anything, and please do not pay again: this page tells you as soon as it is known.':
    'A rede do cartão ainda não respondeu. Não é preciso fazer nada; não pague de novo: esta página avisa assim que houver resposta.',
  'Your refund is on its way': 'Sua devolução está a caminho',
  'It is confirmed as soon as the card network has answered.': 'Ela é confirmada assim que a rede do cartão responder.',
  'Part of your money is on its way back': 'Parte do valor está sendo devolvida',
  'The whole amount is on its way back to your card.': 'O valor inteiro está voltando para o seu cartão.',
  'This payment is disputed': 'Este pagamento está em disputa',
  'Please contact us.': 'Fale conosco.',
  'the answer to the payment': 'a resposta do pagamento',
  'asking the service': 'consulta ao serviço',
  'The payment did not reach the shop. Please try again.': 'O pagamento não chegou à loja. Tente de novo.',
  'The shop does not answer. Please do not leave this page: it asks again.':
    'A loja não responde. Não saia desta página: ela pergunta de novo.',
  'The shop does not answer. Reload the page to see what was refunded.':
    'A loja não responde. Recarregue a página para ver o que foi devolvido.',
  'The card fields could not be loaded. Please reload the page.':
    'Não foi possível carregar os campos do cartão. Recarregue a página.',
  all: 'tudo',
  Refund: 'Devolver',
  'Amount to refund, empty for all': 'Valor a devolver, vazio para tudo',
  'An amount such as 12.34, or empty for all': 'Um valor como 12,34, ou vazio para tudo',
  paid: 'pago',
  'under analysis': 'em análise',
  refunding: 'em devolução',
  'partially refunded': 'devolvido em parte',
  refunded: 'devolvido',
  disputed: 'em disputa',
  open: 'aberto'
}
const locale = /^pt\b/i.test(navigator.language) ? 'pt-BR' : 'en'
const price = money(Number(priceCents))
translate()

// Undefined where the script of the service could not be loaded, or was blocked.
const fields = globalThis.Service?.fields({
  publishableKey,
  element: '#card-fields',
  style: {
    colorText: color('ink'),
    colorLabel: color('soft'),
    colorPlaceholder: color('soft'),
    colorBackground: color('card'),
    colorBorder: color('edge'),
    colorFocus: color('accent'),
    colorError: color('bad'),
    borderRadius: '10px'
  }
})

const form = find('#pay')
const button = find('#pay-button')
const notice = find('#notice')
const refundNotice = find('#refund-notice')
setBusy(false)

form.addEventListener('submit', async event => {
  event.preventDefault()
  if (button.hasAttribute('disabled') || button.getAttribute('aria-busy') === 'true') return
  setBusy(true)
  say('')
  try {
    const token = await fields.tokenize()
    // If this answer is lost, follow() reads the order from the shop's server.
    const answer = await post(`/orders/${orderId}/pay`, token).catch(() => null)
    const order = await follow()
    if (answer === null && order.status === 'open') say(t('The payment did not reach the shop. Please try again.'))
  } catch (error) {
    // The fields mark what the buyer can correct; this sentence is for screen readers and all other errors.
    say(error instanceof Error ? error.message : String(error))
  }
  setBusy(false)
})

/** Polls and shows the order until it is final. */
async function follow() {
  for (;;) {
    try {
      const order = await get(`/orders/${orderId}`)
      show(order)
      await showOrders()
      if (!order.is_waiting) return order
    } catch {
      say(t('The shop does not answer. Please do not leave this page: it asks again.'))
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

const OUTCOMES = {
  paid: ['Thank you!', 'Your order is paid. The beans leave on Wednesday.', '✓'],
  under_analysis: [
    'Your payment is under analysis',
    'The card network has not answered yet. You need not do anything, and please do not pay again: this page tells you as soon as it is known.',
    '…'
  ],
  refunding: ['Your refund is on its way', 'It is confirmed as soon as the card network has answered.', '…'],
  partially_refunded: ['Part of your money is on its way back', '', '↩'],
  refunded: ['Refunded', 'The whole amount is on its way back to your card.', '↩'],
  disputed: ['This payment is disputed', 'Please contact us.', '!']
}

const SOURCES = { answer: 'the answer to the payment', webhook: 'webhook', read: 'asking the service' }

function show(order) {
  const [title, text, sign] = OUTCOMES[order.status] ?? []
  form.hidden = title !== undefined
  say(order.notice?.[locale] ?? '')
  const outcome = find('#outcome')
  const heading = find('#outcome h2')
  const isNews = outcome.hidden !== (title === undefined)
  outcome.hidden = title === undefined
  heading.textContent = t(title ?? '')
  // What had the focus is not on the page any more.
  if (isNews) (outcome.hidden ? button : heading).focus()
  if (title === undefined) return
  outcome.dataset.status = order.status
  find('#outcome .text').textContent = t(text)
  find('#outcome .sign').textContent = sign
  find('#outcome .reference').textContent = order.id
  find('#outcome .card').textContent = order.card ?? '…'
  find('#outcome .source').textContent = t(SOURCES[order.source] ?? '…')
  find('#outcome .again').hidden = order.is_waiting
}

let shownOrders = '[]'

/** Draws them only when they have changed: the merchant may be typing an amount there. */
async function showOrders() {
  const orders = await get('/merchant/orders')
  if (JSON.stringify(orders) === shownOrders) return
  shownOrders = JSON.stringify(orders)
  find('#orders').replaceChildren(...orders.map(orderRow))
}

function orderRow(order) {
  const row = document.createElement('tr')
  for (const [label, text] of [
    ['Order', order.id],
    ['Card', order.card ?? '–'],
    ['Status', t(order.status.replaceAll('_', ' '))],
    ['Paid', money(order.paid_cents)],
    ['Refunded', money(order.refunded_cents)]
  ]) {
    const cell = row.insertCell()
    cell.className = label === 'Paid' || label === 'Refunded' ? 'number' : ''
    cell.textContent = text
  }
  row.insertCell().append(refundForm(order))
  return row
}

function refundForm(order) {
  const refund = document.createElement('form')
  if (order.status !== 'paid' && order.status !== 'partially_refunded') return refund
  const amount = document.createElement('input')
  Object.assign(amount, { type: 'text', inputMode: 'decimal', placeholder: t('all'), name: 'amount' })
  // The browser sends nothing that has another form: what is no amount must not count as "all".
  Object.assign(amount, {
    pattern: '(?=.*[1-9])\\d+([.,]\\d{1,2})?',
    title: t('An amount such as 12.34, or empty for all')
  })
  amount.setAttribute('aria-label', t('Amount to refund, empty for all'))
  const send = document.createElement('button')
  send.textContent = t('Refund')
  refund.append(amount, send)
  refund.addEventListener('submit', async event => {
    event.preventDefault()
    send.disabled = true
    const cents = Math.round(Number(amount.value.replace(',', '.')) * 100)
    try {
      const body = amount.value === '' ? {} : { amount_cents: cents }
      const answer = await post(`/merchant/orders/${order.id}/refund`, body)
      say(answer.notice?.[locale] ?? '', refundNotice)
      if (answer.id === orderId) await follow()
      else await showOrders()
      send.disabled = false
    } catch {
      // It may be done all the same: the button stays as it is, for a second press would refund a second time.
      say(t('The shop does not answer. Reload the page to see what was refunded.'), refundNotice)
    }
  })
  return refund
}

/** Not `disabled`: that would take the focus away after a press with a key. */
function setBusy(isBusy) {
  button.setAttribute('aria-disabled', String(isBusy))
  button.setAttribute('aria-busy', String(isBusy))
  button.textContent = isBusy ? t('Paying …') : `${t('Pay')} ${price}`
}

function say(text, place = notice) {
  place.textContent = text
  place.hidden = text === ''
}

/** A colour of shop.css, which may be another one in the dark. */
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}

/** `R$ 89,90`, or `R$89.90` in English. */
function money(cents) {
  return (cents / 100).toLocaleString(locale, { style: 'currency', currency: 'BRL' })
}

/** A text of the page in the language of the browser. */
function t(text) {
  return (locale === 'pt-BR' && PORTUGUESE[text]) || text
}

/** The texts that stand in the page: the leaves of its elements. */
function translate() {
  document.documentElement.lang = locale
  for (const leaf of document.querySelectorAll('body :not(:has(*), .price)')) leaf.textContent = t(leaf.textContent)
  find('.price').textContent = price
}

async function get(path) {
  const response = await fetch(path)
  return response.json()
}

async function post(path, body) {
  const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) })
  return response.json()
}

/** @returns {HTMLElement} */
function find(selector) {
  const found = document.querySelector(selector)
  if (!(found instanceof HTMLElement)) throw new Error(`The page has no ${selector}`)
  return found
}

// A buyer who reloads the page while paying, or comes back to it, must see that order and not an empty form.
await follow()
if (fields === undefined) say(t('The card fields could not be loaded. Please reload the page.'))
// Fields that are late may still come: the button then says whether they have.
await fields?.ready.catch(error => say(error.message))
button.toggleAttribute('disabled', fields === undefined)
