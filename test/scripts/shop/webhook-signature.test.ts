import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { isAuthentic } from '../../../scripts/shop/webhook-signature.js'

const SECRET = 'whsec_of_the_shop'
const BODY = Buffer.from('{"event_id":"1"}')
const SENT_AT_S = 1_800_000_000
const signature = (secret = SECRET, body = BODY): string =>
  createHmac('sha256', secret).update(`${SENT_AT_S}.`).update(body).digest('hex')
const check = (header: string, laterS = 0): boolean => isAuthentic(header, BODY, SECRET, (SENT_AT_S + laterS) * 1_000)

describe('webhooks in the demo shop', () => {
  it('are believed when they are signed with the secret', () => {
    expect(check(`t=${SENT_AT_S},v1=${signature()}`)).to.equal(true)
    expect(check(`t=${SENT_AT_S},v1=${signature('old')},v1=${signature()}`, 299)).to.equal(true)
  })

  for (const [what, header, laterS] of [
    ['another secret', `t=${SENT_AT_S},v1=${signature('other')}`, 0],
    ['another body', `t=${SENT_AT_S},v1=${signature(SECRET, Buffer.from('{}'))}`, 0],
    ['another time', `t=${SENT_AT_S + 1},v1=${signature()}`, 0],
    ['a time long ago', `t=${SENT_AT_S},v1=${signature()}`, 301],
    ['a time to come', `t=${SENT_AT_S},v1=${signature()}`, -301],
    ['no signature', `t=${SENT_AT_S}`, 0],
    ['no time', `v1=${signature()}`, 0],
    ['an empty header', '', 0],
    ['a short signature', `t=${SENT_AT_S},v1=${signature().slice(0, 10)}`, 0]
  ] as const) {
    it(`are not believed with ${what}`, () => {
      expect(check(header, laterS)).to.equal(false)
    })
  }
})
