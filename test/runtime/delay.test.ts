import { expect } from 'chai'
import { delay } from '../../runtime/delay.js'

describe('delay', () => {
  it('gives Node no negative time, which it would warn of on the terminal', async () => {
    const { setTimeout: original } = globalThis
    const times: unknown[] = []
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      times.push(ms)
      return original(run, ms)
    }) as typeof setTimeout
    try {
      await delay(-20)
    } finally {
      globalThis.setTimeout = original
    }
    expect(times).to.deep.equal([0])
  })
})
