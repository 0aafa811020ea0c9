/** The words of a drawn chart as a browser shows them. */
import type { Page } from 'playwright-core'

/** Pairs of texts of different parts of the picture of which one covers more than the rim of the other. */
const COVERED = `(() => {
  const rim = 3
  const labels = [...document.querySelectorAll('.edge text, .node text, .cluster text')].map(text => ({
    part: text.parentNode, text: text.textContent, box: text.getBoundingClientRect()
  }))
  const covers = (one, other) =>
    one.part !== other.part &&
    Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left) > rim &&
    Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top) > rim
  return labels.flatMap((one, at) =>
    labels.slice(at + 1).filter(other => covers(one, other)).map(other => one.text + ' / ' + other.text))
})()`

export function coveredLabels(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(COVERED)
}

/** Height of the smallest font of the picture, at the scale that it is shown at (px). */
export function smallestFontPx(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    const shown = text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a
    return Math.min(...[...document.querySelectorAll('svg text')].map(shown))
  })()`)
}
