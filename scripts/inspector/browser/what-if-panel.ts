/** Steps a scratch payment by hand. The steps are kept here; the server has no state. */
import type { Choice, MachineView, WhatIf } from '../view-model.js'
import type { Position } from './chart-panel.js'
import { historyTable, placeHeading } from './details.js'
import { button, element, redraw } from './element.js'

export class WhatIfPanel {
  readonly #machine: MachineView
  readonly #side: HTMLElement
  readonly #details: HTMLElement
  readonly #onPosition: (position: Position) => void
  #steps: string[] = []
  #beginning: string

  constructor(machine: MachineView, side: HTMLElement, details: HTMLElement, onPosition: (position: Position) => void) {
    this.#machine = machine
    this.#beginning = machine.beginnings[0] ?? ''
    this.#side = side
    this.#details = details
    this.#onPosition = onPosition
  }

  async show(): Promise<void> {
    const answer = await fetch('/what-if', {
      method: 'POST',
      body: JSON.stringify({ beginning: this.#beginning, steps: this.#steps })
    })
    const result = (await answer.json()) as WhatIf
    this.#drawChoices(result)
    this.#drawResult(result)
    this.#onPosition(result)
  }

  #begin(beginning: string): void {
    this.#beginning = beginning
    this.#steps = []
  }

  /** Changes the steps, and takes them again from the beginning. */
  #change(change: () => void): void {
    change()
    void this.show()
  }

  #drawChoices({ choices }: WhatIf): void {
    const beginnings = this.#machine.beginnings.map(text =>
      button(text, () => this.#change(() => this.#begin(text)), {
        'aria-pressed': String(text === this.#beginning)
      })
    )
    const listOf = (members: readonly Choice[]): HTMLElement =>
      element('ol', {}, ...members.map(choice => this.#choice(choice)))
    const folded = (title: string, members: readonly Choice[]): HTMLElement | null =>
      members.length === 0
        ? null
        : element('details', {}, element('summary', {}, `${title} (${members.length})`), listOf(members))
    const taken = choices.filter(({ refusal }) => refusal === null)
    const parts = [
      element('h2', {}, 'Begin with'),
      element('nav', {}, ...beginnings),
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

  #choice({ id, label, next, effect, refusal }: Choice): HTMLElement {
    const item = button('', () => this.#change(() => this.#steps.push(id)), { 'data-event': id })
    const outcome = refusal ?? [next, effect].filter(Boolean).join(' · ')
    item.append(element('b', {}, label), element('small', {}, outcome))
    return element('li', refusal === null ? {} : { class: 'refused' }, item)
  }

  #drawResult({ place, lines }: WhatIf): void {
    redraw(
      this.#details,
      placeHeading(place, this.#machine),
      element(
        'nav',
        {},
        button('Undo', () => this.#change(() => this.#steps.pop())),
        button('Start again', () => this.#change(() => this.#begin(this.#beginning)))
      ),
      element('h2', {}, 'What happened'),
      historyTable(lines)
    )
  }
}
