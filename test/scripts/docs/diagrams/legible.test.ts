/** What the pictures look like: Graphviz lays a label over another where arrows go both ways between neighbours. */
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { machines } from '../../../../machines/catalogue.js'
import { readChart } from '../../../../machines/chart.js'
import { viewsOf } from '../../../../scripts/docs/diagrams/views.js'
import { useBrowser } from '../../../support/browser.js'
import { coveredLabels } from '../../../support/picture-labels.js'

describe('the pictures of the machines', function () {
  this.timeout(30_000)
  const browser = useBrowser()

  for (const { name } of machines.map(readChart).flatMap(viewsOf)) {
    it(`have no label over another: ${name}`, async () => {
      const page = await browser.open('about:blank')
      await page.setContent(await readFile(`docs/machines/${name}.svg`, 'utf8'))
      expect(await page.locator('.edge text').count()).to.be.greaterThan(0)
      expect(await coveredLabels(page)).to.deep.equal([])
    })
  }
})
