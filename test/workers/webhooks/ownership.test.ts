import { Writable } from 'node:stream'
import { expect } from 'chai'
import type { PartitionLeases } from '../../../redis/partition-leases.js'
import { createLogger } from '../../../runtime/log.js'
import { type Holding, Ownership } from '../../../workers/webhooks/ownership.js'
import { until } from '../../support/conditions.js'

const OWNER = 'me'
const PARTITION = 0

/** Leases without another taker. */
function leasesWith(others: Partial<PartitionLeases>): PartitionLeases {
  let takings = 0
  return {
    attend: async () => [OWNER],
    take: async partition => ({ partition, holder: `${OWNER} ${++takings}` }),
    keep: async () => true,
    release: async () => undefined,
    leave: async () => undefined,
    ...others
  }
}

describe('ownership of webhook partitions', () => {
  it('takes a partition anew when its lease could not be kept: another process may have had it meanwhile', async () => {
    const opened: string[] = []
    const ended: string[] = []
    let isKept = true
    const ownership = new Ownership({
      leases: leasesWith({
        keep: async () => {
          const answer = isKept
          isKept = true
          return answer
        }
      }),
      owner: OWNER,
      partitions: 1,
      heartbeatMs: 1,
      leaseMs: 10_000,
      patienceMs: 0,
      open: ({ holder }) => {
        opened.push(holder)
        return { drain: async () => undefined, abort: () => void ended.push(holder) }
      },
      onClosed: () => undefined,
      log: createLogger('webhooks', 'silent')
    })
    await ownership.start()
    isKept = false
    try {
      await until('it is held anew', () => opened.length === 2)
      expect(opened).to.deep.equal(['me 1', 'me 2'])
      expect(ended).to.deep.equal(['me 1'])
    } finally {
      await ownership.stop()
    }
  })

  it('says why its share is not confirmed, for as long as it is not', async () => {
    let isAway = false
    const ownership = new Ownership({
      leases: leasesWith({
        attend: async () => {
          if (isAway) throw new Error('Redis is away')
          return [OWNER]
        }
      }),
      owner: OWNER,
      partitions: 1,
      heartbeatMs: 1,
      leaseMs: 10_000,
      patienceMs: 0,
      open: () => ({ drain: async () => undefined, abort: () => undefined }),
      onClosed: () => undefined,
      log: createLogger('webhooks', 'silent')
    })
    await ownership.start()
    try {
      expect(ownership.problem()).to.equal(undefined)
      isAway = true
      await until('the problem is told', () => ownership.problem()?.includes('Redis is away'))
      isAway = false
      await until('the problem is over', () => ownership.problem() === undefined)
    } finally {
      await ownership.stop()
    }
  })

  it('tells in one line which partitions it has lost, and which it has taken', async () => {
    const lines: string[] = []
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk))
        done()
      }
    })
    let isKept = true
    const ownership = new Ownership({
      leases: leasesWith({ keep: async () => isKept }),
      owner: OWNER,
      partitions: 3,
      heartbeatMs: 1,
      leaseMs: 10_000,
      patienceMs: 0,
      open: () => ({ drain: async () => undefined, abort: () => undefined }),
      onClosed: () => {
        isKept = true
      },
      log: createLogger('webhooks', 'info', destination)
    })
    await ownership.start()
    isKept = false
    try {
      await until('they are held anew', () => lines.length >= 3)
    } finally {
      await ownership.stop()
    }
    const told = lines.map(line => JSON.parse(line)).map(({ level, msg, partitions }) => [level, msg, partitions])
    expect(told).to.deep.equal([
      ['info', 'partitions of webhooks are taken', [0, 1, 2]],
      ['warn', 'partitions of webhooks are given up until they are taken anew', [0, 1, 2]],
      ['info', 'partitions of webhooks are taken', [0, 1, 2]]
    ])
  })

  it('takes a partition anew that it lost in the moment in which it was to give it away', async () => {
    const opened: Holding[] = []
    let living = [OWNER]
    let onKeep = (): void => undefined
    let lose: (error: Error) => void = () => undefined
    const ownership = new Ownership({
      leases: leasesWith({
        attend: async () => living,
        keep: async () => {
          onKeep()
          return true
        }
      }),
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
    onKeep = () => {
      onKeep = () => undefined
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
