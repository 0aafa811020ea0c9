import { expect } from 'chai'
import { ConsumerWatch } from '../../../workers/timers/consumer-watch.js'

describe('the check of the consumers', () => {
  let watch: ConsumerWatch
  beforeEach(() => {
    watch = new ConsumerWatch()
    watch.saw(['a', 'b'])
    watch.looked(0)
  })

  it('is due at the start, and every 5 s', () => {
    expect(new ConsumerWatch().isLookDue(0)).to.equal(true)
    expect([watch.isLookDue(4_999), watch.isLookDue(5_001)]).to.deep.equal([false, true])
  })

  it('is due as soon as a worker is silent, until a check leaves nothing of it', () => {
    watch.saw(['b'])
    expect(watch.isLookDue(500)).to.equal(true)
    watch.saw(['b'])
    expect(watch.isLookDue(1_000)).to.equal(true)
    watch.looked(1_000)
    expect(watch.isLookDue(1_500)).to.equal(false)
  })

  it('is due for a worker that came after the last check, and went', () => {
    watch.saw(['a', 'b', 'c'])
    expect(watch.isLookDue(500)).to.equal(false)
    watch.saw(['a', 'b'])
    expect(watch.isLookDue(1_000)).to.equal(true)
  })

  it('is not due for a worker that came back before it', () => {
    watch.saw(['a'])
    watch.saw(['a', 'b'])
    expect(watch.isLookDue(1_000)).to.equal(false)
  })
})
