import { request } from 'node:https'
import { expect } from 'chai'
import { makeLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { freePort } from '../../../scripts/start/ports.js'
import { forwardTarget, type Listener, startListener } from '../../../scripts/webhooks-listen/listener.js'

describe('webhooks:listen', () => {
  let listener: Listener | undefined
  afterEach(() => listener?.stop())

  it('forwards to http addresses only, with an example in the error', () => {
    expect(forwardTarget('http://localhost:8080/hook').port).to.equal('8080')
    for (const text of ['localhost:4000/hook', '4000', '', 'ftp://localhost/']) {
      expect(() => forwardTarget(text)).to.throw('Give an http address, such as http://localhost:8080/hook.')
    }
  })

  it('reports when there is no answer, and lets the service retry', async () => {
    const tls = await makeLoopbackTls()
    const lines: string[] = []
    const forwardTo = new URL(`http://127.0.0.1:${await freePort()}/hook`)
    listener = await startListener({ tls, port: 0, forwardTo, write: line => lines.push(line) })
    expect(await post(listener.url, tls.ca)).to.equal(502)
    expect(lines.join()).to.contain('-> no answer there')
  })
})

/** Resolves to the status of the answer. */
function post(url: string, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { method: 'POST', ca, agent: false }, response => resolve(response.resume().statusCode))
      .on('error', reject)
      .end('{}')
  })
}
