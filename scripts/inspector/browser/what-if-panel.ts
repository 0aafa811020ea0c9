/** Steps a scratch payment by hand. The steps are kept here; the server has no state. */
import type { Choice, MachineView, WhatIf } from '../view-model.js'
import type { Position } from './chart-panel.js'
import { historyTable, placeHeading } from './details.js'
import { button, element, redraw } from './element.js'

export class WhatIfPanel {
  readonly #side: HTMLElement
  readonly #details: HTMLElement
  readonly #onPosition: (position: Position) => void
  #steps: string[] = []
  #beginning = ''

  constructor(side: HTMLElement, details: HTMLElement, onPosition: (position: Position) => void) {
    this.#side = side
    this.#details = details
    this.#onPosition = onPosition
  }

  async show(machine: MachineView): Promise<void> {
    if (machine.beginnings.length === 0) {
      this.#side.replaceChildren(element('p', { class: 'faint' }, 'This machine has no example events.'))
      this.#details.replaceChildren()
      return
    }
    if (!machine.beginnings.includes(this.#beginning)) this.#begin(machine.beginnings[0] ?? '')
    const answer = await fetch('/what-if', {
      method: 'POST',
      body: JSON.stringify({ machine: machine.id, beginning: this.#beginning, steps: this.#steps })
    })
    const result = (await answer.json()) as WhatIf
    this.#drawChoices(machine, result)
    this.#drawResult(machine, result)
    this.#onPosition(result)
  }

  #begin(beginning: string): void {
    this.#beginning = beginning
    this.#steps = []
  }

  /** Changes the steps, and takes them again from the beginning. */
  #change(machine: MachineView, change: () => void): void {
    change()
    void this.show(machine)
  }

  #drawChoices(machine: MachineView, { choices }: WhatIf): void {
    const beginnings = machine.beginnings.map(text =>
      button(text, () => this.#change(machine, () => this.#begin(text)), {
        'aria-pressed': String(text === this.#beginning)
      })
    )
    const listOf = (members: readonly Choice[]): HTMLElement =>
      element('ol', {}, ...members.map(choice => this.#choice(choice, machine)))
    const folded = (title: string, members: readonly Choice[]): HTMLElement | null =>
      members.length === 0
        ? null
        : element('details', {}, element('summary', {}, `${title} (${members.length})`), listOf(members))
    const taken = choices.filter(({ refusal }) => refusal === null)
    const parts = [
      element('h2', {}, 'Begin with'),
      element('nav', { class: 'beginnings' }, ...beginnings),
      element('h2', {}, 'Can happen now'),
      listOf(taken.filter(({ isTimely }) => isTimely)),
      folded(
        'Would be taken, if it came',
        taken.filter(({ isTimely }) => !isTimely)
      ),
      folded(
        'Would be refused',
        choices.filter(({ refusal }) => refusal !== null)
      )
    ]
    redraw(this.#side, ...parts.filter(part => part !== null))
  }

  #choice({ id, label, next, effect, refusal }: Choice, machine: MachineView): HTMLElement {
    const item = button('', () => this.#change(machine, () => this.#steps.push(id)), { 'data-event': id })
    const outcome = refusal ?? [next, effect].filter(Boolean).join(' · ')
    item.append(element('b', {}, label), element('small', {}, outcome))
    return element('li', refusal === null ? {} : { class: 'refused' }, item)
  }

  #drawResult(machine: MachineView, { place, lines }: WhatIf): void {
    redraw(
      this.#details,
      placeHeading(place, machine),
      element(
        'nav',
        { class: 'beginnings' },
        button('Undo', () => this.#change(machine, () => this.#steps.pop())),
        button('Start again', () => this.#change(machine, () => this.#begin(this.#beginning)))
      ),
      element('h2', {}, 'What happened'),
      historyTable(lines)
    )
  }
}
