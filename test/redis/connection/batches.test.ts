import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { inBatches } from '../../../redis/connection/batches.js'

/** Notes which calls are sent together; `answer` is what they get. */
function noted(answer: (calls: readonly number[]) => (number[] | string)[]) {
  const batches: (readonly number[])[] = []
  const ask = inBatches(async (calls: readonly number[]) => {
    batches.push(calls)
    return answer(calls)
  })
  return { ask, batches }
}

const tenfold = (calls: readonly number[]): number[][] => calls.map(call => [call * 10])

const settled = async (promises: Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(promises)).map(each => (each.status === 'fulfilled' ? each.value : String(each.reason)))

describe('calls in batches', () => {
  it('sends the calls of one turn together, and those of the next one without waiting for an answer', async () => {
    const batches: (readonly number[])[] = []
    const ask = inBatches((calls: readonly number[]) => {
      batches.push(calls)
      return new Promise<number[][]>(() => undefined)
    })
    for (const call of [1, 2]) void ask(call)
    await nextTurn()
    void ask(3)
    await nextTurn()
    expect(batches).to.deep.equal([[1, 2], [3]])
  })

  it('gives each call its own answer', async () => {
    const { ask } = noted(tenfold)
    expect(await Promise.all([ask(1), ask(2), ask(3)])).to.deep.equal([[10], [20], [30]])
  })

  it('sends at most 64 calls together', async () => {
    const { ask, batches } = noted(tenfold)
    await Promise.all(Array.from({ length: 130 }, (_, at) => ask(at)))
    expect(batches.map(({ length }) => length)).to.deep.equal([64, 64, 2])
  })

  it('fails one call alone when its answer is a text', async () => {
    const { ask } = noted(calls => calls.map(call => (call === 2 ? 'WRONGTYPE of 2' : [call])))
    expect(await settled([ask(1), ask(2), ask(3)])).to.deep.equal([[1], 'ReplyError: WRONGTYPE of 2', [3]])
  })

  it('fails the calls of a command that fails, and no later one', async () => {
    const { ask } = noted(calls => {
      if (calls.includes(1)) throw new Error('no connection')
      return tenfold(calls)
    })
    expect(await settled([ask(1), ask(2)])).to.deep.equal(Array(2).fill('Error: no connection'))
    expect(await ask(3)).to.deep.equal([30])
  })
})
