import { expect } from 'chai'
import { createLogger } from '../../../runtime/log.js'
import { Receiver } from '../../../workers/webhooks/receivers.js'

describe('the window of an endpoint', () => {
  it('grows after each success, up to the maximum, and halves after an answer of too many requests', async () => {
    const receiver = new Receiver(20, createLogger('webhooks', 'silent'))
    expect(receiver.room).to.equal(16)
    for (let n = 0; n < 10; n++) receiver.note(204)
    expect(receiver.room).to.equal(20)
    receiver.note(500)
    expect(receiver.room).to.equal(20)
    receiver.note(503)
    expect(receiver.room).to.equal(10)
    let answer = (): void => undefined
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    const sending = Array.from({ length: 12 }, () => receiver.during(() => answered))
    expect([receiver.room, receiver.isIdle]).to.deep.equal([0, false])
    for (let n = 0; n < 10; n++) receiver.note(null)
    answer()
    await Promise.all(sending)
    expect([receiver.room, receiver.isIdle]).to.deep.equal([1, true])
  })
})
