/** The pictures of a machine, and the payment in them. */
import type { HistoryLine, MachineView } from '../view-model.js'
import { button, element, redraw } from './element.js'
import { statusOf } from './words.js'

/** What is lit up: where the payment is, and the way it came. */
export interface Position {
  readonly place: string
  readonly lines: readonly HistoryLine[]
}

type Picture = MachineView['pictures'][number]

/** The picture that changes with the payment: always the part in which it is. */
const FOLLOW = 'follow'

/** Shows `position` in the pictures of a machine, one picture at a time; null: no payment is in it. */
export class ChartPanel {
  readonly #root: HTMLElement
  #machine: MachineView | undefined
  /** Name of a picture, or `FOLLOW`. */
  #chosen = ''
  #position: Position | null = null

  constructor(root: HTMLElement) {
    this.#root = root
  }

  show(machine: MachineView, position: Position | null): void {
    if (this.#machine?.id !== machine.id) {
      this.#chosen = machine.pictures[0]?.name ?? ''
      this.#root.replaceChildren()
    }
    this.#machine = machine
    this.#position = position
    this.#draw()
  }

  #draw(): void {
    const { pictures = [] } = this.#machine ?? {}
    const picture =
      this.#chosen === FOLLOW ? this.#partOf(pictures) : pictures.find(({ name }) => name === this.#chosen)
    if (picture === undefined) return
    const shown = `${this.#chosen} ${picture.name}`
    if (this.#root.dataset['shown'] !== shown || this.#root.childElementCount === 0) {
      this.#root.dataset['shown'] = shown
      redraw(this.#root, this.#tabs(pictures), drawingOf(picture))
    }
    for (const svg of this.#root.querySelectorAll('svg')) light(svg, this.#position)
    bringIntoSight(this.#root.querySelector('.drawing'))
  }

  #partOf(pictures: readonly Picture[]): Picture | undefined {
    const details = pictures.filter(({ level }) => level === 'detail')
    const place = this.#position?.place
    return details.find(({ states }) => place !== undefined && states.includes(statusOf(place))) ?? details[0]
  }

  #tabs(pictures: readonly Picture[]): HTMLElement {
    const tab = (name: string, title: string): HTMLElement => {
      const choose = (): void => {
        this.#chosen = name
        this.#draw()
      }
      return button(title, choose, { 'aria-pressed': String(name === this.#chosen) })
    }
    const named = pictures.map(({ name, title }) => tab(name, title))
    if (named.length > 1) named.splice(1, 0, tab(FOLLOW, 'Follow'))
    return element('nav', { 'aria-label': 'Pictures' }, ...named)
  }
}

function drawingOf({ svg, title }: Picture): HTMLElement {
  // With the keyboard one scrolls what has the focus.
  const drawing = element('div', { class: 'drawing', role: 'region', 'aria-label': title, tabindex: '0' })
  // Drawn by our own server from the machine; nothing of a payment is in it.
  drawing.innerHTML = svg
  return drawing
}

/** Where a chart is bigger than its place, scrolls to where the payment is; the page stays where it is. */
function bringIntoSight(drawing: Element | null): void {
  const here = drawing?.querySelector('.here')?.getBoundingClientRect()
  if (here === undefined || !drawing) return
  const place = drawing.getBoundingClientRect()
  drawing.scrollBy({
    left: here.left + here.width / 2 - (place.left + place.width / 2),
    top: here.top + here.height / 2 - (place.top + place.height / 2)
  })
}

/** Marks the state, the states on the way, and the last arrow. */
function light(svg: SVGSVGElement, position: Position | null): void {
  for (const marked of svg.querySelectorAll('.here, .been, .last')) marked.classList.remove('here', 'been', 'last')
  if (position === null) return
  const both = (place: string): string[] => [place, statusOf(place)]
  const mark = (id: string, name: string): void => svg.querySelector(`[id="${CSS.escape(id)}"]`)?.classList.add(name)
  for (const { from, to } of position.lines) {
    for (const place of [...both(from), ...both(to)]) mark(`state:${place}`, 'been')
  }
  for (const place of both(position.place)) mark(`state:${place}`, 'here')
  mark(`elsewhere:${position.place}`, 'here')
  const last = position.lines.findLast(({ from, to }) => from !== to)
  if (last === undefined) return
  mark(`arrow:${last.from}>${last.to}`, 'last')
  mark(`arrow:${statusOf(last.from)}>${statusOf(last.to)}`, 'last')
}
