import { expect } from 'chai'
import { Registry } from 'prom-client'
import { publishFigures } from '../../runtime/metrics.js'

describe('figures that are read for each scrape', () => {
  it('share one reading', async () => {
    const registry = new Registry()
    let reads = 0
    publishFigures(registry, async () => ({ n: ++reads }), [
      { name: 'one', help: 'One.', pick: ({ n }) => n },
      { name: 'two', help: 'Two.', label: 'age', pick: ({ n }) => ({ 0: n, 60: n * 10 }) }
    ])
    expect(await registry.metrics())
      .to.contain('one 1')
      .and.contain('two{age="60"} 10')
    expect(await registry.metrics())
      .to.contain('one 2')
      .and.contain('two{age="0"} 2')
  })

  it('are absent when the reading fails', async () => {
    const registry = new Registry()
    let isAway = false
    const read = async (): Promise<number> => {
      if (isAway) throw new Error('Redis is away')
      return 7
    }
    publishFigures(registry, read, [{ name: 'depth', help: 'Depth.', pick: n => n }])
    expect(await registry.metrics()).to.contain('depth 7')
    isAway = true
    expect(await registry.metrics()).not.to.match(/^depth /m)
  })
})
