import { expect } from 'chai'
import {
  ApiError,
  type CreatePaymentRequest,
  type MoneyOptions,
  NoAnswerError,
  OutcomeUnknownError
} from '../../client/index.js'
import { demoCustomer } from '../../scripts/start/demo-customer.js'
import { refusal, type ScriptedApi, type Step, scriptedApi } from './scripted-api.js'

const order: CreatePaymentRequest = {
  amount_cents: 1_990,
  external_reference: 'order-1',
  customer: demoCustomer,
  payment_source: { source_type: 'token', token_id: 'tok_1' }
}
const captured = { id: 'p1', status: 'captured' }
const unknown = { id: 'p1', status: 'unknown' }
const WITH_KEY: MoneyOptions = { idempotencyKey: 'o1.pay.1' }
const paid: Step = [201, captured]

/** What a create ends with: the payment, or the error. */
async function endOf({ client }: ScriptedApi, options: MoneyOptions = WITH_KEY): Promise<unknown> {
  return await client.payments.create(order, options).catch((error: unknown) => error)
}

async function outcomeUnknown(api: ScriptedApi, options?: MoneyOptions): Promise<OutcomeUnknownError> {
  const end = await endOf(api, options)
  return end instanceof OutcomeUnknownError ? end : expect.fail(String(end))
}

describe('the client, when a request moves money', () => {
  const repeated: readonly (readonly [string, Step])[] = [
    ['no answer comes', 'cut'],
    ['the service is broken', refusal(500, 'internal_error')],
    ['the store of the service is unavailable', refusal(503, 'service_unavailable')],
    ['a proxy answers for the service', [502, '<html>Bad gateway</html>']],
    ['a gateway answers with an error of its own', [404, { error: { code: 'NOT_FOUND', message: 'No deployment.' } }]],
    ['an answer redirects elsewhere', [302, { to: 'elsewhere' }]],
    ['something else answers with a list', [200, []]],
    ['something else answers with an object', [200, { status: 'ok' }]],
    ['the request came too slowly', refusal(408, 'request_timeout')],
    ['the rate limit is reached', refusal(429, 'rate_limited')],
    ['the payment is still being created', refusal(409, 'idempotency_in_progress', { payment_id: 'p1' })],
    ['the request is accepted and has no result', [202, { id: 'p1', status: 'pending' }]],
    ['the card network gave no clear answer', [202, unknown]]
  ]
  for (const [what, step] of repeated) {
    it(`sends the same bytes under the same key again when ${what}`, async () => {
      const api = scriptedApi([step, paid])
      expect(await endOf(api)).to.deep.equal(captured)
      expect(api.sent).to.have.length(2)
      expect(api.sent.map(({ body }) => body)).to.deep.equal(Array(2).fill(JSON.stringify(order)))
      expect(api.sent.map(({ headers }) => headers['idempotency-key'])).to.deep.equal(['o1.pay.1', 'o1.pay.1'])
    })
  }

  const final: readonly (readonly [number, string, object?])[] = [
    [400, 'invalid_request'],
    [404, 'not_found'],
    [409, 'idempotency_conflict'],
    [409, 'invalid_state', { payment_id: 'p1', retryable: true }],
    [422, 'card_declined', { payment_id: 'p1' }],
    [503, 'network_unavailable', { payment_id: 'p1', retryable: true }],
    [503, 'authorization_overdue', { payment_id: 'p1', retryable: true }]
  ]
  for (const [status, code, more = {}] of final) {
    it(`treats ${status} ${code} as final`, async () => {
      const api = scriptedApi([refusal(status, code, more), paid])
      const end = await endOf(api)
      expect(end).to.be.instanceOf(ApiError).and.to.include({ status, code, requestId: 'r1' })
      expect(api.sent).to.have.length(1)
    })
  }

  for (const [status, code] of [
    [401, 'unauthorized'],
    [403, 'merchant_disabled'],
    [408, 'request_timeout'],
    [429, 'rate_limited']
  ] as const) {
    it(`treats ${status} ${code} as final only when no earlier try may have been accepted`, async () => {
      const api = scriptedApi([refusal(status, code)])
      expect(await endOf(api, {})).to.include({ name: 'ApiError', code })
      for (const steps of [[refusal(status, code)], ['cut', refusal(status, code)]] as const) {
        const isFirst = steps.length === 2
        const { cause } = await outcomeUnknown(scriptedApi(steps), isFirst ? {} : WITH_KEY)
        expect(cause).to.be.instanceOf(ApiError).and.to.include({ code })
      }
    })
  }

  it('treats a refusal after a try without an answer as final', async () => {
    expect(await endOf(scriptedApi(['cut', refusal(422, 'card_declined')]))).to.include({ code: 'card_declined' })
  })

  it('reports an unknown outcome when no answer arrives', async () => {
    const api = scriptedApi(['cut'])
    const { cause, payment, message } = await outcomeUnknown(api)
    expect(message).to.contain('socket hang up. Repeat the call with the same key')
    expect(cause).to.be.instanceOf(NoAnswerError).and.to.include({ code: 'no_connection' })
    expect((cause as Error).message).to.equal('http://api.test gave no answer: socket hang up.')
    expect([payment, api.sent.length]).to.deep.equal([null, 4])
  })

  it('repeats until the deadline, and returns the last known payment', async () => {
    const end = await outcomeUnknown(scriptedApi([[202, unknown]]), { deadlineMs: 30, maxRetries: 0 })
    expect(end.payment).to.deep.equal(unknown)
    expect(end.paymentId).to.equal('p1')
  })

  it('tries once with a deadline of 0, and sends the wait of its options', async () => {
    const api = scriptedApi([[202, unknown], paid])
    await outcomeUnknown(api, { deadlineMs: 0, waitS: 0 })
    expect(api.sent.map(({ headers }) => headers['prefer'])).to.deep.equal(['wait=0'])
  })

  it('waits as long as Retry-After says, and gives up at once when that is beyond the deadline', async () => {
    const busy: Step = [202, unknown, { 'Retry-After': '1' }]
    const beganMs = performance.now()
    expect(await endOf(scriptedApi([busy, paid]))).to.deep.equal(captured)
    expect(performance.now() - beganMs).to.be.at.least(1_000)
    // It ends before the time of this test is over.
    await outcomeUnknown(scriptedApi([[202, unknown, { 'Retry-After': '3600' }], paid]), { deadlineMs: 3_599_000 })
  })

  it('ends a try that takes too long, and tries again', async () => {
    for (const step of ['hang', 'stall'] as const) {
      expect(await endOf(scriptedApi([step, paid]), { timeoutMs: 20 }), step).to.deep.equal(captured)
    }
  })

  it('ends with the signal also after the head of an answer', async () => {
    const error = await outcomeUnknown(scriptedApi(['stall']), { ...WITH_KEY, signal: AbortSignal.timeout(20) })
    expect(error.idempotencyKey).to.equal('o1.pay.1')
  })

  it('reports an abort as an unknown outcome, with the key for a repeat', async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error('the process ends')), 20)
    const end = await outcomeUnknown(scriptedApi(['hang']), { signal: stop.signal })
    expect(end.idempotencyKey).to.match(/^[0-9a-f-]{36}$/)
    expect((end.cause as Error).message).to.equal('the process ends')
  })

  it('sends nothing when the signal has come before', async () => {
    const api = scriptedApi([paid])
    expect(await endOf(api, { signal: AbortSignal.abort(new Error('stopped')) })).to.have.property('message', 'stopped')
    expect(api.sent).to.have.length(0)
  })

  it('makes a new key for each call without one', async () => {
    const api = scriptedApi([paid])
    for (let calls = 0; calls < 2; calls++) await api.client.payments.create(order)
    expect(new Set(api.sent.map(({ headers }) => headers['idempotency-key'])).size).to.equal(2)
  })
})

describe('the client, with a request that moves no money', () => {
  it('retries after failures, then reports that there was no answer', async () => {
    const api = scriptedApi(['cut', refusal(500, 'internal_error'), [200, captured]])
    expect(await api.client.payments.get('p1')).to.deep.equal(captured)
    const end = await scriptedApi(['cut'])
      .client.payments.get('p1')
      .catch(error => error)
    expect(end).to.be.instanceOf(NoAnswerError).and.to.include({ code: 'no_connection' })
  })

  it('ends with the reason of the signal', async () => {
    const signal = AbortSignal.timeout(20)
    const end = await scriptedApi(['hang'])
      .client.capabilities({ signal })
      .catch(error => error)
    expect(end).to.equal(signal.reason)
  })

  it('names the address that gave no answer in time, or an unreadable one', async () => {
    const late = await scriptedApi(['hang'], { timeoutMs: 10, maxRetries: 0 }).client.capabilities().catch(String)
    expect(late).to.equal('NoAnswerError: http://api.test gave no answer within 10 ms.')
    const page = scriptedApi([[200, '<html></html>']], { maxRetries: 0 })
    const end = await page.client.capabilities().catch(error => error)
    expect(end).to.include({ code: 'unreadable', status: 200 })
  })
})
