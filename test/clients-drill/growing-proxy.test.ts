import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { webhooks } from '../../client/index.js'
import { signatureHeader } from '../../workers/webhooks/signature.js'
import { grownDelivery, startGrowingProxy } from './growing-proxy.js'
import { type SampleLanguage, sampleFiles, sampleOf } from './samples.js'

const added = { added_field: { deep: ['text', 1, null] } }

describe('the growing proxy', () => {
  it('adds a field to every object, and answers values that no client knows', async () => {
    const answered = {
      status: 'captured',
      metadata: { status: 'mine' },
      error: { code: 'card_declined' },
      items: [{ id: '1' }]
    }
    const service = createServer((_, response) => {
      response.writeHead(422, { 'Content-Type': 'application/json', 'X-Request-Id': 'r' }).end(JSON.stringify(answered))
    })
    await new Promise<void>(done => service.listen(0, '127.0.0.1', done))
    const proxy = await startGrowingProxy(`http://127.0.0.1:${(service.address() as AddressInfo).port}`)
    try {
      const answer = await fetch(`${proxy.url}/x`, { method: 'POST', body: '{}' })
      expect([answer.status, answer.headers.get('X-Request-Id')]).to.deep.equal([422, 'r'])
      expect(await answer.json()).to.deep.equal({
        status: 'captured_added',
        metadata: { status: 'mine' },
        error: { code: 'card_declined_added', ...added },
        items: [{ id: '1', ...added }],
        ...added
      })
    } finally {
      await proxy.stop()
      service.close()
    }
  })

  it('signs an event with more in it again', () => {
    const body = '{"status":"captured"}'
    const { body: more, header } = grownDelivery(body, signatureHeader(['whsec_1'], Date.now(), body), 'whsec_1')
    expect(webhooks.verify(more, header, 'whsec_1')).to.deep.equal({ status: 'captured_added', ...added })
  })
})

describe('the samples of client/samples/', () => {
  for (const language of Object.keys(sampleFiles) as SampleLanguage[]) {
    it(`has a first charge and a check of a signature: ${language}`, () => {
      const root = resolve('.')
      expect(sampleOf(root, 'charge', language)).to.contain('/v1/payments')
      expect(sampleOf(root, 'signature', language)).to.match(/is_?signed/i)
    })
  }
})
