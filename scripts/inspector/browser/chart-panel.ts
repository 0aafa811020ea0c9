/** The pictures of the machine, and the payment in them. */
import type { HistoryLine, MachineView } from '../view-model.js'
import { button, element, redraw } from './element.js'
import { statusOf } from './words.js'

/** What is marked: where the payment is, and its history. */
export interface Position {
  readonly place: string
  readonly lines: readonly HistoryLine[]
}

type Picture = MachineView['pictures'][number]

/** The picture that changes with the payment: always the part in which it is. */
const FOLLOW = 'follow'

/** Of a chart, so that its text of 13 and 11 px can be read. */
const SCALE_MIN = 0.65

/** Shows `position` in the pictures of the machine, one picture at a time; null: no payment is in it. */
export class ChartPanel {
  readonly #root: HTMLElement
  readonly #machine: MachineView
  /** Name of a picture, or `FOLLOW`. */
  #chosen: string
  #position: Position | null = null

  constructor(root: HTMLElement, machine: MachineView) {
    this.#root = root
    this.#machine = machine
    this.#chosen = machine.pictures[0]?.name ?? ''
  }

  show(position: Position | null): void {
    this.#position = position
    this.#draw()
  }

  #draw(): void {
    const { pictures } = this.#machine
    const picture =
      this.#chosen === FOLLOW ? this.#partOf(pictures) : pictures.find(({ name }) => name === this.#chosen)
    if (picture === undefined) return
    const shown = `${this.#chosen} ${picture.name}`
    if (this.#root.dataset['shown'] !== shown) {
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
    const tab = (chosen: string, words: string): HTMLElement => {
      const choose = (): void => {
        this.#chosen = chosen
        this.#draw()
      }
      return button(words, choose, { 'aria-pressed': String(chosen === this.#chosen) })
    }
    const named = pictures.map(picture => tab(picture.name, picture.title))
    if (named.length > 1) named.splice(1, 0, tab(FOLLOW, 'Follow'))
    return element('nav', { 'aria-label': 'Pictures' }, ...named)
  }
}

function drawingOf({ svg, title }: Picture): HTMLElement {
  // Focus makes it possible to scroll with the keyboard.
  const drawing = element('div', { class: 'drawing', role: 'region', 'aria-label': title, tabindex: '0' })
  // Our own server draws it from the machine. It has no content of a payment.
  drawing.innerHTML = svg
  // As wide as its panel; much smaller than its layout, its text can't be read: then it scrolls.
  for (const { style, viewBox } of drawing.querySelectorAll('svg')) {
    const { width } = viewBox.baseVal
    style.minWidth = `${width * SCALE_MIN}px`
    style.maxWidth = `${width}px`
  }
  return drawing
}

/** Scrolls a chart that is larger than its panel to the state of the payment. The page does not scroll. */
function bringIntoSight(drawing: Element | null): void {
  const here = drawing?.querySelector('.here')?.getBoundingClientRect()
  if (here === undefined || !drawing) return
  const place = drawing.getBoundingClientRect()
  drawing.scrollBy({
    left: here.left + here.width / 2 - (place.left + place.width / 2),
    top: here.top + here.height / 2 - (place.top + place.height / 2)
  })
}

/** Marks the state, the states before it, and the last arrow. */
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
