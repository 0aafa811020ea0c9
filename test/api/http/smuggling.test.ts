import { expect } from 'chai'
import { createLogger } from '../../../runtime/log.js'
import { writingTo } from '../../support/log-lines.js'
import { exchange, requestHead } from '../raw-http.js'
import { API_KEY, SECRET, startApi, useApi } from '../running-api.js'

/** What a proxy in front might read as one request and we as two, or the other way round. */
const ambiguous: readonly (readonly [string, string])[] = [
  ['two lengths', 'Content-Length: 4\r\nContent-Length: 40\r\n'],
  ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n'],
  ['chunks, then a length', 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n'],
  ['an encoding that only looks like chunks', 'Transfer-Encoding: xchunked\r\n'],
  ['chunks that are not the last encoding', 'Transfer-Encoding: chunked, identity\r\n'],
  ['a space before the colon', 'Content-Length : 4\r\n'],
  ['a header that goes on in the next line', 'X-A: b\r\n c: d\r\nContent-Length\r\n : 4\r\n'],
  ['a length with a sign', 'Content-Length: +4\r\n'],
  ['a length in hexadecimal', 'Content-Length: 0x4\r\n'],
  ['a carriage return within a header', 'X-A: b\rContent-Length: 4\r\n'],
  ['a NUL in a header', 'X-A: b\u0000c\r\n']
]

describe('requests with a second one hidden inside', () => {
  const lines: string[] = []
  const api = useApi({ log: createLogger('api', 'info', writingTo(lines)) })

  const hidden = requestHead('GET', '/v1/payments', { Connection: 'close' })

  for (const [name, headers] of ambiguous) {
    it(`are refused whole: ${name}`, async () => {
      const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\n${headers}\r\n`
      const answer = await exchange(api.port, `${head}0\r\n\r\n${hidden}`)
      expect(answer).to.match(/^HTTP\/1\.1 4\d\d /)
      expect(answer.match(/^HTTP\/1\.1 /gm)).to.have.length(1)
      expect(api.payments.lists).to.deep.equal([])
    })
  }

  it('cannot choose another host, path or client by headers of proxies', async () => {
    const answer = await api.request('GET', '/v1/capabilities', {
      headers: {
        'X-Forwarded-Host': 'evil.example',
        'X-Original-URL': '/v1/payments',
        'X-Rewrite-URL': '/v1/payments',
        'X-HTTP-Method-Override': 'DELETE',
        'X-Forwarded-For': '127.0.0.1'
      }
    })
    expect(answer.status).to.equal(200)
    expect(answer.text).not.to.contain('evil.example')
    expect(api.payments.lists).to.deep.equal([])
  })

  it('cannot write a line of their own into the log', async () => {
    await api.request('GET', '/v1/capabilities', { headers: { Origin: 'https://shop.example/{"level":"fatal"}' } })
    for (const line of lines) expect(() => JSON.parse(line), line).not.to.throw()
  })
})

describe('a secret key in a browser', () => {
  it('is logged without card data that the client names as its origin', async () => {
    const lines: string[] = []
    const api = await startApi({ log: createLogger('api', 'info', writingTo(lines)) })
    await api.request('GET', '/v1/capabilities', { headers: { Origin: 'https://4024-0071-5376-0060.example' } })
    await api.stop()
    expect(lines.join()).to.contain('"origin":"(card data)"').and.not.contain('0071')
  })

  it('is answered with a warning, and logged once a minute, without the key', async () => {
    const lines: string[] = []
    const api = await startApi({ log: createLogger('api', 'info', writingTo(lines)) })
    const headers = { Origin: 'https://shop.example' }
    const first = await api.request('GET', '/v1/capabilities', { headers })
    const second = await api.request('GET', '/v1/none', { headers: { ...headers, Authorization: null } })
    const third = await api.request('GET', '/v1/capabilities', { headers })
    const server = await api.request('GET', '/v1/capabilities')
    await api.stop()
    expect([first, second, third, server].map(answer => answer.headers.get('X-Service-Warning'))).to.deep.equal([
      'secret-key-in-browser',
      null,
      'secret-key-in-browser',
      null
    ])
    // Nor may a page read the answer.
    expect(first.headers.get('Access-Control-Allow-Origin')).to.equal(null)
    const warnings = lines.filter(line => line.includes('used in a browser'))
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.contain('"origin":"https://shop.example"').and.contain('k_full').and.not.contain(SECRET)
  })
})
