import { expect } from 'chai'
import { delay } from '../../runtime/delay.js'
import { eachSecond } from '../../runtime/each-second.js'

describe('what is looked at each second', () => {
  it('is looked at in one wake-up, and each look ends alone', async () => {
    const seen: [look: string, atMs: number][] = []
    const note = (look: string) => (): void => void seen.push([look, performance.now()])
    const endFirst = eachSecond(note('first'))
    await delay(300)
    const endSecond = eachSecond(note('second'))
    await delay(1_200)
    const [before, after] = seen.slice(-2)
    expect([before?.[0], after?.[0]]).to.deep.equal(['first', 'second'])
    expect((after?.[1] ?? 0) - (before?.[1] ?? 0)).to.be.below(50)
    endFirst()
    const both = seen.length
    await delay(1_200)
    endSecond()
    const all = seen.length
    await delay(1_200)
    expect(seen.slice(both).map(([look]) => look))
      .to.include('second')
      .and.not.include('first')
    expect(seen).to.have.length(all)
  })

  it('is looked at by each that asked, also for the same look', async () => {
    let looks = 0
    const look = (): void => void looks++
    const ends = [eachSecond(look), eachSecond(look)]
    ends[0]?.()
    await delay(1_200)
    ends[1]?.()
    expect(looks).to.equal(1)
  })
})
