import { expect } from 'chai'
import { createLogger } from '../../../runtime/log.js'
import { returnEntry } from '../../../workers/command-loop/return-entry.js'

const log = createLogger('payments', 'silent')

describe('an entry that a worker does not end', () => {
  /** Redis is away for the first two tries. */
  async function triesOf(stopping: AbortSignal): Promise<number> {
    let tries = 0
    const move = async (): Promise<void> => {
      if (++tries <= 2) throw new Error('Connection is closed.')
    }
    await returnEntry(move, { log, ids: {}, stopping })
    return tries
  }

  it('is returned by a living worker however often that fails: its entries are not taken over', async () => {
    expect(await triesOf(new AbortController().signal)).to.equal(3)
  })

  it('is left to its next worker when the worker stops', async () => {
    expect(await triesOf(AbortSignal.abort())).to.equal(1)
  })
})
