import { expect } from 'chai'
import { messageOf } from '../../runtime/message-of.js'

describe('the message of an error', () => {
  it('is that of the first address where none of several answers', () => {
    const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:1'), new Error('other')], '')
    expect(messageOf(refused)).to.equal('connect ECONNREFUSED ::1:1')
    expect(messageOf('text')).to.equal('text')
  })
})
