/** The accessibility audit of a page by axe-core. */
import axe from 'axe-core'
import type { Frame, Page } from 'playwright-core'

/** Of the element behind the page's only iframe that has a colour. */
const BACKGROUND_OF_IFRAME = `(() => {
  for (let element = document.querySelector('iframe'); element; element = element.parentElement) {
    const { backgroundColor } = getComputedStyle(element)
    if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor
  }
})()`

/**
 * What axe-core finds of impact serious or critical in the page and in each of its frames, as `impact rule: element`.
 * `leftOut` names rules that are not checked.
 */
export async function seriousProblems(page: Page, leftOut: readonly string[] = []): Promise<string[]> {
  const found = await Promise.all(page.frames().map(frame => problemsUnlessGone(page, frame, leftOut)))
  return found.flat()
}

/** A frame that the page has replaced may still be in its list, until the browser has said that it is gone. */
async function problemsUnlessGone(page: Page, frame: Frame, leftOut: readonly string[]): Promise<string[]> {
  try {
    return await problemsOf(frame, leftOut)
  } catch (error) {
    await page.title()
    if (frame.isDetached()) return []
    throw error
  }
}

async function problemsOf(frame: Frame, leftOut: readonly string[]): Promise<string[]> {
  const background = await frame.parentFrame()?.evaluate<string>(BACKGROUND_OF_IFRAME)
  // axe-core takes the white of a browser for what shows through a frame that is transparent.
  if (background) await frame.evaluate(`document.documentElement.style.background = ${JSON.stringify(background)}`)
  const options = {
    iframes: false,
    // It would fetch style sheets, which the policy of the frame forbids.
    preload: false,
    // Details of what passes would be most of the work.
    resultTypes: ['violations'],
    rules: Object.fromEntries(leftOut.map(rule => [rule, { enabled: false }]))
  }
  const { violations, passed } = await frame.evaluate<Pick<axe.AxeResults, 'violations'> & { passed: number }>(
    `(async () => {
      ${axe.source}
      const { violations, passes } = await axe.run(document, ${JSON.stringify(options)})
      return { violations, passed: passes.length }
    })()`
  )
  if (passed === 0) throw new Error(`axe-core checked nothing in ${frame.url()}`)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, any }) => `${impact} ${id}: ${target} ${any[0]?.message ?? ''}`)
    )
}
