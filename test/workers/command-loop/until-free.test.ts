import { expect } from 'chai'
import { createLogger } from '../../../runtime/log.js'
import { untilFree } from '../../../workers/command-loop/until-free.js'

const log = createLogger('payments', 'silent')

describe('untilFree', () => {
  /** Answers these one after the other; errors are thrown. */
  const outcomeOf = async (
    answers: ('done' | 'taken' | 'again' | Error)[],
    stopping = new AbortController().signal
  ) => {
    const attempt = async () => {
      const answer = answers.shift() ?? 'done'
      if (answer instanceof Error) throw answer
      return answer
    }
    const waitsFor = (error: unknown) => (error instanceof RangeError ? 'it waits' : null)
    return await untilFree(attempt, { lockedPauseMs: () => 10, waitsFor, ids: {}, log, stopping }).catch(
      (error: Error) => error.message
    )
  }

  it('waits for the lock, and while something is unavailable', async () => {
    expect(await outcomeOf(['taken', new RangeError(), 'again', 'taken'])).to.equal('done')
  })

  it('rethrows an error that is not an outage', async () => {
    expect(await outcomeOf(['taken', new Error('broken')])).to.equal('broken')
  })

  it('ends with its worker', async () => {
    const stopping = new AbortController()
    const answers = Array<'taken'>(1_000).fill('taken')
    setTimeout(() => stopping.abort(), 60)
    expect(await outcomeOf(answers, stopping.signal)).to.equal('stopped')
    expect(await outcomeOf(['done'], AbortSignal.abort())).to.equal('stopped')
  })
})
