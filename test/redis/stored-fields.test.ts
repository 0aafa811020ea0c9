import { expect } from 'chai'
import { WrittenByOtherVersion } from '../../machines/written-by-other-version.js'
import { decodeReply, encodeReply } from '../../redis/commands/replies.js'
import { DamagedValue, many, numbered, required, storedList } from '../../redis/stored-fields.js'

interface Sample {
  readonly name: string
  readonly count: number
  readonly atMs: number | null
  readonly colour: 'red' | 'green'
  readonly parts: readonly { readonly size: number }[]
}

const format = storedList<Sample>({
  name: [required],
  count: [1],
  atMs: [null],
  colour: ['green', numbered(['red', 'green'])],
  parts: [[], many(storedList<{ readonly size: number }>({ size: [0] }))]
})

const sample: Sample = { name: 'a', count: 1, atMs: null, colour: 'green', parts: [] }

describe('a stored list', () => {
  for (const [what, changes, stored] of [
    ['leaves out the defaults at its end', {}, ['a']],
    ['keeps the place of a default between others', { colour: 'red' }, ['a', 0, 0, false]],
    ['keeps a 0 that is not the default', { count: 0, atMs: 0 }, ['a', false, false]],
    ['keeps each part, also one of defaults only', { parts: [{ size: 0 }, { size: 3 }] }, ['a', 0, 0, 0, [[], [3]]]]
  ] as const) {
    it(what, () => {
      const value: Sample = { ...sample, ...changes }
      expect(format.encode(value)).to.deep.equal(stored)
      expect(format.decode(JSON.parse(JSON.stringify(stored)))).to.deep.equal(value)
    })
  }

  it('ignores rows of a newer version, and refuses a record without a required field', () => {
    expect(format.decode(['a', 0, 0, 0, 0, 'newer'])).to.deep.equal(sample)
    expect(() => format.decode([0, 2])).to.throw(DamagedValue, 'lacks name')
    expect(() => format.decode(['a', 0, 0, 7])).to.throw(WrittenByOtherVersion, 'word 7')
  })

  it('sends the times of a command that met no network: they round to 0', () => {
    const times = { queueMs: 0.01, lockMs: 0.04, networkMs: 0.003, workMs: 12.34 }
    const replyTo = { channel: 'c', commandId: 'id' }
    const message = encodeReply({ replyTo }, { kind: 'failed', code: 'network_unavailable' }, null, times)
    expect(decodeReply(message)?.reply.times).to.deep.equal({ queueMs: 0, lockMs: 0, networkMs: 0, workMs: 12.3 })
  })
})
