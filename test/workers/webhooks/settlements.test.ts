import { expect } from 'chai'
import { newDelivery } from '../../../machines/webhook-delivery.js'
import { type Move, PartitionLost } from '../../../redis/webhook-queue.js'
import { createLogger } from '../../../runtime/log.js'
import { Settlements } from '../../../workers/webhooks/settlements.js'

const log = createLogger('webhooks', 'silent')

describe('settlements of webhooks', () => {
  it('writes nothing behind what was refused: a later event would overtake it', async () => {
    const written: string[][] = []
    let refuse = (): void => undefined
    const settle = (moves: readonly Move[]): Promise<boolean[]> => {
      written.push(moves.map(({ before }) => before.eventId))
      if (written.length > 1) return Promise.resolve(moves.map(() => true))
      return new Promise((_, reject) => {
        refuse = () => reject(new PartitionLost('Another process has it.'))
      })
    }
    const settlements = new Settlements(settle, new AbortController().signal, log)
    const earlier = settlements.add(moveOf('earlier'))
    await new Promise(resolve => setImmediate(resolve))
    const later = settlements.add(moveOf('later'))
    refuse()
    expect(await statusesOf([earlier, later])).to.deep.equal(['rejected', 'rejected'])
    expect(written).to.deep.equal([['earlier']])
  })

  it('writes nothing once its partition is given up', async () => {
    const stopping = new AbortController()
    let writes = 0
    const settle = async (moves: readonly Move[]): Promise<boolean[]> => {
      writes++
      return moves.map(() => true)
    }
    const settlements = new Settlements(settle, stopping.signal, log)
    const added = settlements.add(moveOf('event'))
    stopping.abort()
    expect(await statusesOf([added])).to.deep.equal(['rejected'])
    expect(writes).to.equal(0)
  })
})

function moveOf(eventId: string): Move {
  const delivery = newDelivery(0)
  const event = { eventId, compact: 'payment', version: 2, body: '{}', entryId: '1-0', delivery, history: [] }
  return { before: event, after: event, attempt: null }
}

async function statusesOf(settled: readonly Promise<boolean>[]): Promise<string[]> {
  return (await Promise.allSettled(settled)).map(({ status }) => status)
}
