import { expect } from 'chai'
import { type ErrorCode, errorCatalogue } from '../../contract/errors.js'

describe('texts of errors', () => {
  // Also answered by routes that know no Idempotency-Key: reads, POST /v1/cards, PUT /v1/webhook-endpoint, POST /v1/tokens.
  const anywhere: readonly ErrorCode[] = ['internal_error', 'service_unavailable', 'overloaded', 'rate_limited']
  for (const code of anywhere) {
    it(`do not presume an Idempotency-Key: ${code}`, () => {
      const { message } = errorCatalogue[code]
      if (message.includes('Idempotency-Key')) expect(message).to.contain('same Idempotency-Key if it has one')
    })
  }

  it('of a limit name keys and addresses', () => {
    expect(errorCatalogue.rate_limited.message).to.match(/API key or from this address/)
  })

  // These end a create, a capture, a cancel and a refund.
  for (const code of ['provider_rejected', 'network_unavailable'] as const) {
    it(`name every operation that was not done: ${code}`, () => {
      expect(errorCatalogue[code].message).to.match(/nothing was charged, captured, canceled or refunded/i)
    })
  }
})
