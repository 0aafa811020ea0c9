/** The colours of the fields in a dark page, where those of frame.css could not be read. */
import type { FieldsStyle } from './fields-values.js'

const DARK: FieldsStyle = {
  colorText: '#f2f5f9',
  colorLabel: '#c9d1dc',
  colorBackground: '#1b222c',
  colorBorder: '#8592a3',
  colorFocus: '#8ab4ff',
  colorError: '#ffb4ab',
  colorPlaceholder: '#a9b4c2'
}

/**
 * Dark ones where the text of the page is light, which also holds for pages with a picture behind the fields. None when the
 * merchant chose a colour: half of a palette could not be read.
 */
export function colorsFor(element: HTMLElement, style: FieldsStyle | undefined): FieldsStyle {
  const hasColors = Object.keys(style ?? {}).some(option => option.startsWith('color'))
  return !hasColors && lightness(getComputedStyle(element).color) > 0.5 ? DARK : {}
}

/** From 0 (black) to 1, of a colour as browsers compute it: `rgb(1, 2, 3)`, `oklch(0.9 0 0)`, `lab(90 0 0)`, `color(srgb 1 1 1)`. */
function lightness(color: string): number {
  const numbers = color.replace(/^color\(\S+/, '').match(/[\d.]+/g) ?? []
  const [first = 0, second = 0, third = 0] = numbers.map(Number)
  if (/^ok/.test(color)) return first
  if (/^l(ab|ch)/.test(color)) return first / 100
  return (0.2126 * first + 0.7152 * second + 0.0722 * third) / (color.startsWith('rgb') ? 255 : 1)
}
