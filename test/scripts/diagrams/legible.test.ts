/** What the pictures look like: Graphviz lays a label over another where arrows go both ways between neighbours. */
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { machines } from '../../../machines/catalogue.js'
import { readChart } from '../../../machines/chart.js'
import { viewsOf } from '../../../scripts/diagrams/views.js'
import { useBrowser } from '../../support/browser.js'

/** Pairs of labels of different arrows of which one covers more than the rim of the other. */
const COVERED = `(() => {
  const rim = 3
  const labels = [...document.querySelectorAll('.edge text')].map(text => ({
    arrow: text.parentNode, text: text.textContent, box: text.getBoundingClientRect()
  }))
  const covers = (one, other) =>
    one.arrow !== other.arrow &&
    Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left) > rim &&
    Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top) > rim
  return labels.flatMap((one, at) =>
    labels.slice(at + 1).filter(other => covers(one, other)).map(other => one.text + ' / ' + other.text))
})()`

describe('the pictures of the machines', function () {
  this.timeout(30_000)
  const browser = useBrowser()

  for (const { name } of machines.map(readChart).flatMap(viewsOf)) {
    it(`have no label over another: ${name}`, async () => {
      const page = await browser.open('about:blank')
      await page.setContent(await readFile(`docs/machines/${name}.svg`, 'utf8'))
      expect(await page.locator('.edge text').count()).to.be.greaterThan(0)
      expect(await page.evaluate(COVERED)).to.deep.equal([])
    })
  }
})
