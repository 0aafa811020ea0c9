// The page of the shop. `Service.fields` comes from the payment service; everything else is the shop's own.

/** What buyers read, for a browser that prefers Portuguese. */
const PORTUGUESE = {
  'Demo shop': 'Loja de demonstração',
  'Serra coffee beans, 1 kg': 'Café Serra em grãos, 1 kg',
  'Pay by card': 'Pagar com cartão',
  'Remember this card': 'Lembrar este cartão',
  'Only hold the amount; the merchant captures it': 'Só reservar o valor; a loja captura',
  Pay: 'Pagar',
  'Pay with': 'Pagar com',
  'Paying …': 'Pagando …',
  'Your card details go straight to the payment service. This shop never sees them.':
    'Os dados do cartão vão direto ao serviço de pagamento. Esta loja nunca os vê.',
  'Order another bag': 'Pedir outro pacote',
  Refunded: 'Devolvido',
  'Thank you!': 'Obrigado!',
  'Your order is paid.': 'Seu pedido está pago.',
  'The amount is held on your card.': 'O valor está reservado no seu cartão.',
  'Your payment is under analysis': 'Seu pagamento está em análise',
  'Please do not pay again: this page tells you as soon as it is known.':
    'Não pague de novo: esta página avisa assim que houver resposta.',
  'A part is on its way back to your card': 'Uma parte está voltando para o seu cartão',
  'This payment is disputed': 'Este pagamento está em disputa',
  'The payment did not reach the shop. Please try again.': 'O pagamento não chegou à loja. Tente de novo.',
  'The shop does not answer. Please do not leave this page: it asks again.':
    'A loja não responde. Não saia desta página: ela pergunta de novo.',
  'The card fields could not be loaded. Please reload the page.':
    'Não foi possível carregar os campos do cartão. Recarregue a página.'
}
const POLL_MS = 700
const WAITING = ['pending', 'capturing', 'cancelling', 'refunding', 'unknown']
const OUTCOMES = {
  unknown: ['Your payment is under analysis', 'Please do not pay again: this page tells you as soon as it is known.'],
  captured: ['Thank you!', 'Your order is paid.'],
  pre_authorized: ['Thank you!', 'The amount is held on your card.'],
  partially_refunded: ['A part is on its way back to your card'],
  refunded: ['Refunded'],
  charged_back: ['This payment is disputed']
}
/** What the merchant may do: the words of the button, and the verb of the API. */
const ACTIONS = {
  pre_authorized: { Capture: 'capture', Cancel: 'cancel' },
  captured: { Refund: 'cancel' },
  partially_refunded: { Refund: 'cancel' }
}

const locale = /^pt\b/i.test(navigator.language) ? 'pt-BR' : 'en'
const t = text => (locale === 'pt-BR' && PORTUGUESE[text]) || text
const find = selector => document.querySelector(selector)
const cardOf = ({ brand, last4 }) => `${brand} •••• ${last4}`
const orderId = location.pathname.split('/').at(-1)
const { publishableKey = '', priceCents = '0' } = document.body.dataset
const price = money(Number(priceCents))
const form = find('#pay')
const button = find('#pay-button')
const stored = JSON.parse(localStorage.getItem('card') ?? 'null')
let drawn = ''

document.documentElement.lang = locale
for (const leaf of document.querySelectorAll('main :not(:has(*))')) leaf.textContent = t(leaf.textContent)
find('.price').textContent = price
find('#stored').hidden = stored === null
if (stored !== null) find('#stored span').textContent = `${t('Pay with')} ${cardOf(stored)}`
setBusy(false)

// Undefined where the script of the service could not be loaded, or was blocked.
const fields = globalThis.Service?.fields({ publishableKey, element: '#card-fields' })

form.addEventListener('submit', async event => {
  event.preventDefault()
  if (button.hasAttribute('disabled') || button.getAttribute('aria-busy') === 'true') return
  setBusy(true)
  say('')
  try {
    const source = form.elements.stored.checked ? stored : await typedCard(form.elements.remember.checked)
    const body = { ...source, is_hold: form.elements.hold.checked }
    // If this answer is lost, the payment is read all the same.
    const answer = await ask(`/orders/${orderId}/pay`, body).catch(() => null)
    const payment = await follow()
    if (answer?.notice !== undefined) say(answer.notice[locale])
    else if (payment === undefined) say(t('The payment did not reach the shop. Please try again.'))
  } catch (error) {
    // The fields mark what the buyer can correct; this sentence is for screen readers and all other errors.
    say(error instanceof Error ? error.message : String(error))
  }
  setBusy(false)
})

/** A token of the typed card, or the card itself when it is to be remembered. */
async function typedCard(isRemembered) {
  const token = await fields.tokenize()
  if (!isRemembered) return token
  const { card_id, brand, last4 } = await ask('/cards', token)
  localStorage.setItem('card', JSON.stringify({ card_id, brand, last4 }))
  return { card_id, brand, last4 }
}

/** Shows the order until its outcome is known. Resolves to its last payment. */
async function follow() {
  for (;;) {
    try {
      const [payment] = await ask(`/orders/${orderId}`)
      show(payment)
      await showPayments()
      if (!WAITING.includes(payment?.status)) return payment
    } catch {
      say(t('The shop does not answer. Please do not leave this page: it asks again.'))
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

function show(payment) {
  const status = WAITING.includes(payment?.status) ? 'unknown' : payment?.status
  const [title, text = ''] = OUTCOMES[status] ?? []
  const outcome = find('#outcome')
  const isNews = outcome.hidden !== (title === undefined)
  form.hidden = title !== undefined
  outcome.hidden = title === undefined
  say('')
  find('#outcome h2').textContent = t(title)
  find('#outcome .text').textContent = t(text)
  // What had the focus is not on the page any more.
  if (isNews) (outcome.hidden ? button : find('#outcome h2')).focus()
}

/** Draws them only when they have changed: the merchant may be typing an amount there. */
async function showPayments() {
  const payments = await ask('/merchant/payments')
  if (JSON.stringify(payments) === drawn) return
  drawn = JSON.stringify(payments)
  find('#orders').replaceChildren(...payments.map(rowOf))
}

function rowOf(payment) {
  const row = document.createElement('tr')
  const paid = [money(payment.captured_cents), money(payment.refunded_cents)]
  const texts = [payment.external_reference, cardOf(payment.card), payment.status.replaceAll('_', ' '), ...paid]
  for (const text of texts) row.insertCell().textContent = text
  const actions = ACTIONS[payment.status]
  if (actions !== undefined) row.insertCell().append(formOf(payment, actions))
  return row
}

function formOf(payment, actions) {
  const merchant = document.createElement('form')
  // The same for a second press after a lost answer: money moves once.
  let key = crypto.randomUUID()
  const amount = document.createElement('input')
  // The browser sends nothing that has another form: what is not an amount must not count as "all".
  Object.assign(amount, { inputMode: 'decimal', placeholder: 'all', pattern: '\\d+([.,]\\d{1,2})?' })
  amount.title = 'Amount, such as 12.34; empty for all'
  amount.setAttribute('aria-label', amount.title)
  merchant.append(amount)
  for (const [textContent, value] of Object.entries(actions)) {
    const send = document.createElement('button')
    merchant.append(Object.assign(send, { textContent, value }))
  }
  merchant.addEventListener('submit', async event => {
    event.preventDefault()
    const cents = amount.value === '' ? undefined : Math.round(Number(amount.value.replace(',', '.')) * 100)
    try {
      const path = `/merchant/payments/${payment.id}/${event.submitter.value}`
      const { notice } = await ask(path, { key, amount_cents: cents })
      // What is not refused moves money, soon or late, and gets a new row.
      if (notice !== undefined) key = crypto.randomUUID()
      await follow()
      await showPayments()
      say(notice?.[locale] ?? '', find('#merchant-notice'))
    } catch {
      say(t('The shop does not answer. Please do not leave this page: it asks again.'), find('#merchant-notice'))
    }
  })
  return merchant
}

/** Not `disabled`: that would take the focus away after a press with a key. */
function setBusy(isBusy) {
  button.setAttribute('aria-disabled', String(isBusy))
  button.setAttribute('aria-busy', String(isBusy))
  button.textContent = isBusy ? t('Paying …') : `${t('Pay')} ${price}`
}

function say(text, place = find('#notice')) {
  place.textContent = text
  place.hidden = text === ''
}

function money(cents) {
  return (cents / 100).toLocaleString(locale, { style: 'currency', currency: 'BRL' })
}

async function ask(path, body) {
  return (await fetch(path, body && { method: 'POST', body: JSON.stringify(body) })).json()
}

// A buyer who reloads the page while paying, or comes back to it, must see that order and not an empty form.
await follow()
if (fields === undefined) say(t('The card fields could not be loaded. Please reload the page.'))
// Fields that are late may still come: the button then says whether they have.
await fields?.ready.catch(error => say(error.message))
button.toggleAttribute('disabled', fields === undefined)
