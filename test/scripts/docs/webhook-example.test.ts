import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { webhooks } from '../../../client/index.js'
import { signatureHeader } from '../../../workers/webhooks/signature.js'

describe('the example signature of docs/WEBHOOKS.md', () => {
  it('is what the service signs, and what the client believes', () => {
    const page = readFileSync('docs/WEBHOOKS.md', 'utf8')
    const [, secret = '', body = '', header = ''] = /With the secret `(\w+)`.*?```\n(.*?)\n(.*?)\n```/s.exec(page) ?? []
    const nowMs = Number(/t=(\d+)/.exec(header)?.[1]) * 1_000
    expect(signatureHeader([secret], nowMs, body)).to.equal(header)
    expect(webhooks.verify(body, header, secret, { nowMs }).status).to.equal('captured')
  })
})
