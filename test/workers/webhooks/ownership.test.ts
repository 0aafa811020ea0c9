import { expect } from 'chai'
import { createLogger } from '../../../runtime/log.js'
import { type Holding, Ownership } from '../../../workers/webhooks/ownership.js'
import { until } from '../../support/conditions.js'

const OWNER = 'me'
const PARTITION = 0

describe('ownership of webhook partitions', () => {
  it('takes a partition anew when it slept through its lease: another process may have had it meanwhile', async () => {
    const ended: number[] = []
    let opened = 0
    const ownership = new Ownership({
      leases: {
        attend: async () => [OWNER],
        hold: async () => true,
        release: async () => undefined,
        leave: async () => undefined
      },
      owner: OWNER,
      partitions: 1,
      heartbeatMs: 1,
      leaseMs: 100,
      patienceMs: 0,
      open: () => {
        const number = ++opened
        return { drain: async () => undefined, abort: () => void ended.push(number) }
      },
      onClosed: () => undefined,
      log: createLogger('webhooks', 'silent')
    })
    await ownership.start()
    const sinceMs = performance.now()
    while (performance.now() < sinceMs + 150);
    try {
      await until('it is held anew', () => opened === 2)
      expect(ended).to.deep.equal([1])
    } finally {
      await ownership.stop()
    }
  })

  it('takes a partition anew that it lost in the moment in which it was to give it away', async () => {
    const opened: Holding[] = []
    let living = [OWNER]
    let onHold = (): void => undefined
    let lose: (error: Error) => void = () => undefined
    const ownership = new Ownership({
      leases: {
        attend: async () => living,
        hold: async () => {
          onHold()
          return true
        },
        release: async () => undefined,
        leave: async () => undefined
      },
      owner: OWNER,
      partitions: 1,
      heartbeatMs: 1,
      leaseMs: 10_000,
      patienceMs: 0,
      open: (_, onLost) => {
        lose = onLost
        const holding = { drain: async () => undefined, abort: () => undefined }
        opened.push(holding)
        return holding
      },
      onClosed: () => undefined,
      log: createLogger('webhooks', 'silent')
    })
    await ownership.start()
    // Who slept is not among the living for a moment, and may learn just then that a result was refused.
    living = []
    onHold = () => {
      onHold = () => undefined
      living = [OWNER]
      lose(new Error('a result was refused'))
    }
    try {
      await until('it is held anew', () => opened.length === 2)
      expect(ownership.get(PARTITION)).to.equal(opened[1])
      expect(ownership.partitions).to.deep.equal([PARTITION])
    } finally {
      await ownership.stop()
    }
  })
})
