import { expect } from 'chai'
import { readChart } from '../../../../machines/chart.js'
import { paymentMachine } from '../../../../machines/payment/machine.js'
import { drawingOf } from '../../../../scripts/docs/diagrams/drawing.js'
import { views } from '../../../../scripts/docs/diagrams/views.js'

describe('the pictures of the machine', () => {
  const chart = readChart(paymentMachine)
  it('show every state, and every change of state', () => {
    const drawings = views.filter(({ level }) => level === 'detail').map(view => drawingOf(chart, view))
    const boxes = drawings.flatMap(({ groups }) => groups.flatMap(group => group.boxes.map(({ path }) => path)))
    const leaves = chart.states.filter(({ kind }) => kind !== 'compound').map(({ path }) => path)
    expect(boxes.sort()).to.deep.equal(leaves.sort())
    const arrows = drawings.flatMap(drawing => drawing.arrows)
    const drawn = new Set(arrows.map(({ to }) => to))
    const entered = leaves.filter(path => path !== chart.initial)
    expect(entered.filter(path => !drawn.has(path))).to.deep.equal([])
  })
})
