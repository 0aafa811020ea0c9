/** The payments that were seen, the one that moved last on top. */
import type { SeenPayment } from '../view-model.js'
import { button, element } from './element.js'
import { money, shortId, statusOf } from './words.js'

/** One line. Its elements stay while the payment changes, because a click needs press and release on the same element. */
interface Item {
  readonly seen: SeenPayment
  readonly line: HTMLElement
  readonly button: HTMLElement
  readonly chip: HTMLElement
  readonly amount: HTMLElement
  readonly caption: HTMLElement
}

export class PaymentList {
  readonly #heading = element('h2')
  readonly #lines = element('ol')
  readonly #hint = element('p', { class: 'faint' }, 'Payments appear here as workers decide about them.')
  readonly #newest: HTMLElement
  readonly root: HTMLElement
  readonly #select: (id: string) => void
  #items = new Map<string, Item>()

  /** `followNewest`: called when the viewer asks for it, or no longer. */
  constructor(select: (id: string) => void, followNewest: () => void) {
    this.#select = select
    this.#newest = button('Follow the newest', followNewest, { role: 'switch' })
    this.root = element('div', {}, this.#newest, this.#heading, this.#lines, this.#hint)
    this.#lines.addEventListener('pointerleave', () => this.#arrange())
  }

  /** Draws what has changed. */
  draw(payments: readonly SeenPayment[], selected: string | undefined, isFollowingNewest: boolean): void {
    this.#newest.setAttribute('aria-checked', String(isFollowingNewest))
    this.#items = new Map(payments.map(seen => [seen.id, this.#itemOf(seen)]))
    for (const [id, item] of this.#items) item.button.setAttribute('aria-pressed', String(id === selected))
    this.#heading.textContent = `Payments (${payments.length})`
    this.#hint.hidden = payments.length > 0
    this.#arrange()
  }

  /** While the pointer is on a line, no line moves and new ones come last: otherwise a click could hit another payment. */
  #arrange(): void {
    const lines = [...this.#items.values()].map(({ line }) => line)
    const isInUse = this.#lines.matches(':hover') || this.#lines.querySelector(':focus-visible') !== null
    if (isInUse) this.#lines.append(...lines.filter(({ isConnected }) => !isConnected))
    else this.#lines.replaceChildren(...lines)
  }

  #itemOf(seen: SeenPayment): Item {
    const known = this.#items.get(seen.id)
    if (known?.seen === seen) return known
    const item = known ?? this.#newItem(seen.id)
    const { facts } = seen
    item.chip.textContent = facts.place
    item.chip.dataset['status'] = statusOf(facts.place)
    item.amount.textContent = money(facts.amountCents)
    item.caption.textContent = `${shortId(seen.id)} · ${facts.worker ?? ''}`
    return { ...item, seen }
  }

  #newItem(id: string): Omit<Item, 'seen'> {
    const chip = element('span', { class: 'chip' })
    const amount = element('span')
    const caption = element('small', { title: id })
    const choice = button('', () => this.#select(id), { 'data-payment': id })
    choice.append(chip, amount, caption)
    return { line: element('li', {}, choice), button: choice, chip, amount, caption }
  }
}
