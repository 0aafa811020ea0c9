import { expect } from 'chai'
import {
  acceptedAs,
  afterLook,
  comparedAs,
  type Look,
  laterOf,
  lossIn,
  type Memory,
  missingFor,
  storedVouch,
  type Vouch
} from '../../../redis/installation/epochs.js'

const NOW = 1_800_000_000_000
const NONE = { vouch: null, count: 0, serverId: 'a', seen: [] } satisfies Look
const TIMES = { lastCommandMs: NOW - 60_000, nowMs: NOW }

/** Data of one server that made 100 commits, then of another one. */
const data: Vouch = {
  standing: 'vouched',
  epochs: [
    { number: 1, serverId: 'a', begins: 0 },
    { number: 2, serverId: 'b', begins: 100 }
  ],
  acceptedEpoch: 0,
  unvouchedBeforeMs: 0,
  missing: null
}

const memory = (epoch: number, serverId: string, count: number): Memory => ({ epoch, serverId, count })
const look = (remembered: Memory | null, count: number, serverId = 'c', atMs = NOW): Look => ({
  vouch: data,
  count,
  serverId,
  seen: remembered === null ? [] : [{ atMs, memory: remembered }]
})
const standingAfter = (one: Look): string => afterLook(one, TIMES)?.vouch.standing ?? 'unchanged'

describe('what a memory says of data', () => {
  const rows: [string, Memory, number, number | null][] = [
    ['nothing is missing of its own epoch', memory(2, 'b', 150), 150, 0],
    ['commits came since', memory(2, 'b', 120), 150, 0],
    ['the end of its epoch is missing', memory(2, 'b', 153), 150, 3],
    ['a commit before the next epoch is missing, although the count is higher by now', memory(1, 'a', 103), 150, 3],
    ['all of an earlier epoch is there', memory(1, 'a', 100), 150, 0],
    ['its epoch is missing', memory(3, 'c', 180), 150, 30],
    ['its epoch is missing, and the count was overtaken', memory(3, 'c', 120), 150, 1],
    ['another server has its epoch', memory(2, 'x', 130), 150, 30]
  ]
  for (const [name, remembered, count, missing] of rows) {
    it(name, () => expect(missingFor(remembered, data, count)).to.equal(missing))
  }

  it('nothing, when it is older than the epochs that are kept, or than what an operator has accepted', () => {
    const [, second] = data.epochs
    expect(missingFor(memory(1, 'a', 999), { ...data, epochs: second ? [second] : [] }, 150)).to.equal(null)
    expect(missingFor(memory(2, 'b', 999), { ...data, acceptedEpoch: 3 }, 150)).to.equal(null)
  })
})

describe('a look at data', () => {
  it('changes nothing while the server is that of the newest epoch', () => {
    expect(afterLook(look(memory(2, 'b', 150), 150, 'b'), TIMES)).to.equal(null)
    expect(afterLook(look(null, 150, 'b'), TIMES)).to.equal(null)
  })

  it('begins an epoch on a restarted server, vouched for when a witness misses nothing', () => {
    const after = afterLook(look(memory(2, 'b', 149), 150), TIMES)
    expect(after).to.deep.equal({
      vouch: { ...data, epochs: [...data.epochs, { number: 3, serverId: 'c', begins: 150 }] },
      isMarked: false
    })
  })

  it('treats new data as vouched for', () => {
    expect(afterLook(NONE, TIMES)?.vouch.standing).to.equal('vouched')
    expect(standingAfter({ ...look(null, 0), vouch: { ...data, epochs: [] } })).to.equal('vouched')
  })

  it('treats data as unvouched without a memory, and marks everything that waits', () => {
    const after = afterLook(look(null, 150), TIMES)
    expect(after?.isMarked).to.equal(true)
    expect(after?.vouch).to.deep.include({ standing: 'unvouched', missing: null })
    expect(after?.vouch.unvouchedBeforeMs).to.be.within(NOW, NOW + 5_000)
  })

  it('accepts no witness that stopped watching before the last command', () => {
    expect(standingAfter(look(memory(2, 'b', 149), 150, 'c', TIMES.lastCommandMs - 60_000))).to.equal('unvouched')
    expect(standingAfter(look(memory(2, 'b', 149), 150, 'c', TIMES.lastCommandMs))).to.equal('vouched')
  })

  it('finds that it went back when any memory is missing, also on a server that is known', () => {
    for (const serverId of ['b', 'c']) {
      const after = afterLook(look(memory(2, 'b', 160), 150, serverId), TIMES)
      expect(after?.isMarked).to.equal(false)
      expect(after?.vouch.epochs).to.deep.equal(data.epochs)
      expect(after?.vouch.missing).to.deep.equal({ commits: 10, fromMs: TIMES.lastCommandMs, toMs: NOW, epoch: 2 })
      expect(after?.vouch.standing).to.equal('went_back')
    }
  })

  it('finds an empty server in the place of data that is remembered', () => {
    expect(lossIn({ ...NONE, seen: [{ atMs: NOW, memory: memory(2, 'b', 160) }] })?.commits).to.equal(160)
  })

  it('leaves data that went back as it is, except when more is missing', () => {
    const back = afterLook(look(memory(2, 'b', 160), 150), TIMES)?.vouch as Vouch
    expect(afterLook({ ...look(memory(2, 'b', 155), 150), vouch: back }, TIMES)).to.equal(null)
    expect(afterLook({ ...look(null, 150), vouch: back }, TIMES)).to.equal(null)
    const more = afterLook({ ...look(memory(2, 'b', 170), 150, 'c', NOW + 9_000), vouch: back }, TIMES)?.vouch.missing
    expect(more).to.deep.include({ commits: 20, toMs: NOW })
  })
})

describe('data that an operator has accepted', () => {
  const back = afterLook(look(memory(5, 'x', 160), 150), TIMES)?.vouch as Vouch
  const accepted = acceptedAs(back, { count: 150, serverId: 'c' }, NOW)

  it('continues as unvouched, in an epoch beyond all that is remembered', () => {
    expect(accepted).to.deep.include({ standing: 'unvouched', missing: null, acceptedEpoch: 6 })
    expect(accepted.epochs.at(-1)).to.deep.equal({ number: 6, serverId: 'c', begins: 150 })
  })

  it('is accepted for the same missing commits again, but not for newer ones', () => {
    expect(lossIn({ ...look(memory(5, 'x', 160), 150), vouch: accepted })).to.equal(null)
    expect(lossIn({ ...look(memory(6, 'c', 152), 151), vouch: accepted })?.commits).to.equal(1)
  })

  it('is vouched for again when everything is compared; older payments stay unvouched', () => {
    expect(comparedAs(accepted)).to.deep.equal({ ...accepted, standing: 'vouched' })
  })
})

describe('the record of all this', () => {
  it('comes back as it was stored', () => {
    const back = afterLook(look(memory(2, 'b', 160), 150), TIMES)?.vouch as Vouch
    for (const vouch of [data, { ...back, epochs: [] }, acceptedAs(back, { count: 0, serverId: 'c' }, NOW)]) {
      expect(storedVouch.decode(storedVouch.encode(vouch))).to.deep.equal(vouch)
    }
  })

  it('keeps the later of two memories', () => {
    expect(laterOf(undefined, memory(1, 'a', 5))).to.deep.equal(memory(1, 'a', 5))
    expect(laterOf(memory(2, 'b', 1), memory(1, 'a', 5))).to.deep.equal(memory(2, 'b', 1))
    expect(laterOf(memory(2, 'b', 1), memory(2, 'b', 5))).to.deep.equal(memory(2, 'b', 5))
  })
})
