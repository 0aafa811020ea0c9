import { expect } from 'chai'
import { Admission } from '../../../api/http/admission.js'
import { API_KEY, aKey, SECRET, useApi } from '../running-api.js'

/** Enters until it is refused; the number of places. */
function fill(admission: Admission, merchantId: string): number {
  let places = 0
  while (admission.enter(merchantId) === undefined) places++
  return places
}

describe('admission', () => {
  it('gives one merchant three quarters of the places, never all', () => {
    const admission = new Admission(100)
    expect(fill(admission, 'a')).to.equal(75)
    expect(admission.enter('a')).to.equal('merchant_share')
    expect(admission.enter('b')).to.equal(undefined)
  })

  it('shares places equally between merchants that flood at the same time, and reserves some for a later one', () => {
    const admission = new Admission(100)
    const counts = new Map<string, number>()
    for (let round = 0; round < 100; round++) {
      for (const merchant of ['a', 'b', 'c']) {
        if (admission.enter(merchant) === undefined) counts.set(merchant, (counts.get(merchant) ?? 0) + 1)
      }
    }
    expect([...counts.values()].every(count => count >= 29 && count <= 31)).to.equal(true)
    expect(fill(admission, 'late')).to.be.at.least(5)
  })

  it('is full at its limit for every merchant, and open again when a request ends', () => {
    const admission = new Admission(4)
    for (const merchant of ['a', 'b', 'c', 'd']) expect(admission.enter(merchant)).to.equal(undefined)
    expect(admission.enter('e')).to.equal('full')
    expect(admission.figures).to.deep.equal({ inFlight: 4, merchants: 4 })
    admission.leave('a')
    expect(admission.enter('e')).to.equal(undefined)
  })

  it('forgets merchants without requests', () => {
    const admission = new Admission(4)
    admission.enter('a')
    admission.enter('a')
    admission.leave('a')
    admission.leave('a')
    expect(admission.figures).to.deep.equal({ inFlight: 0, merchants: 0 })
  })
})

describe('an API that is full', () => {
  const admission = new Admission(4)
  const api = useApi({ admission })

  it('answers 503 with Retry-After to the merchant that fills it, and works for another one', async () => {
    api.keys.set('k_two', aKey('k_two', { merchantId: 'm_two' }))
    for (let place = 0; place < 3; place++) admission.enter('m_one')
    const refused = await api.request('GET', '/v1/capabilities', { headers: { Authorization: `Bearer ${API_KEY}` } })
    expect([refused.status, refused.error['code'], refused.error['retryable']]).to.deep.equal([
      503,
      'service_unavailable',
      true
    ])
    expect(Number(refused.headers.get('Retry-After'))).to.be.within(1, 3)
    const other = { Authorization: `Bearer svc_test.k_two.${SECRET}` }
    expect((await api.request('GET', '/v1/capabilities', { headers: other })).status).to.equal(200)
    for (let place = 0; place < 3; place++) admission.leave('m_one')
    expect((await api.request('GET', '/v1/capabilities')).status).to.equal(200)
    expect(admission.figures.inFlight).to.equal(0)
  })
})
