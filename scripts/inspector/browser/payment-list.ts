/** The payments that were seen, the one that moved last on top. */
import { button, element } from './element.js'
import type { Seen } from './feed.js'
import { money, shortId, statusOf } from './words.js'

/** Draws the list anew; `find` looks up a payment that nobody has seen yet. */
export function drawPayments(
  root: HTMLElement,
  payments: readonly Seen[],
  selected: string | undefined,
  select: (id: string) => void
): void {
  const items = payments.map(({ id, place, facts }) => {
    const item = button('', () => select(id), { 'aria-pressed': String(id === selected), 'data-payment': id })
    item.append(
      element('span', { class: 'chip', 'data-status': statusOf(place) }, place),
      element('span', { class: 'amount' }, money(facts.amountCents)),
      element('small', { title: id }, `${shortId(id)} · ${facts.worker ?? 'not seen moving'}`)
    )
    return element('li', {}, item)
  })
  const hint = element('p', { class: 'faint' }, 'Payments appear here as workers decide about them.')
  root.replaceChildren(
    element('h2', {}, `Payments (${payments.length})`),
    items.length === 0 ? hint : element('ol', {}, ...items)
  )
}

/** A field for the id of a payment that is not in the list. */
export function searchField(found: (id: string) => void): HTMLElement {
  const field = element('input', { placeholder: 'Payment id', 'aria-label': 'Payment id', maxlength: '36' })
  const form = element('form', { class: 'search' }, field, element('button', {}, 'Find'))
  form.addEventListener('submit', event => {
    event.preventDefault()
    const id = field.value.trim()
    void fetch(`/payments/${encodeURIComponent(id)}`).then(({ ok }) => {
      field.setCustomValidity(ok ? '' : 'There is no such payment, or no service.')
      field.reportValidity()
      if (ok) found(id)
    })
  })
  field.addEventListener('input', () => field.setCustomValidity(''))
  return form
}
