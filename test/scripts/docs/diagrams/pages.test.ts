import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import { machines } from '../../../../machines/catalogue.js'
import { readChart } from '../../../../machines/chart.js'
import { machinePages } from '../../../../scripts/docs/diagrams/chart-pages.js'
import { drawingOf } from '../../../../scripts/docs/diagrams/drawing.js'
import { viewsOf } from '../../../../scripts/docs/diagrams/views.js'

describe('pages and pictures of the machines', () => {
  it('come without pictures of machines that are gone', async () => {
    const made = (await machinePages()).map(({ path }) => path)
    expect(readdirSync('docs/machines').map(name => `docs/machines/${name}`)).to.have.members(
      made.filter(path => path.endsWith('.svg'))
    )
  })

  for (const chart of machines.map(readChart)) {
    it(`show every state of the machine ${chart.id}, and every change of state`, () => {
      const drawings = viewsOf(chart)
        .filter(({ level }) => level === 'detail')
        .map(view => drawingOf(chart, view))
      const boxes = drawings.flatMap(({ groups }) => groups.flatMap(group => group.boxes.map(({ path }) => path)))
      const leaves = chart.states.filter(({ kind }) => kind !== 'compound').map(({ path }) => path)
      expect(boxes.sort()).to.deep.equal(leaves.sort())
      const arrows = drawings.flatMap(drawing => drawing.arrows)
      const drawn = new Set(arrows.map(({ to }) => to))
      const entered = leaves.filter(path => path !== chart.initial)
      expect(entered.filter(path => !drawn.has(path))).to.deep.equal([])
    })
  }
})
