import { expect } from 'chai'
import { ServiceError } from '../../../api/http/service-error.js'
import type { Submission } from '../../../api/payments/payments-port.js'
import type { CommandResult } from '../../../machines/commands.js'
import { noTexts } from '../../../machines/merchant-text-rules.js'
import type { FailureCode, RefusalCode } from '../../../machines/model.js'
import { aCreateBody, aPayment, capturedProgress, PAYMENT_ID } from '../builders.js'
import { useApi } from '../running-api.js'

const { terms, progress } = aPayment()
const succeeded: CommandResult = { kind: 'succeeded', progress: capturedProgress() }
const finished = (result: CommandResult, isReplay = false): Submission => ({
  kind: 'finished',
  terms,
  result,
  isReplay
})
const inProgress = { kind: 'in_progress', terms, progress, isReplay: false } as const
/** Of `progress`, as merchants see it. */
const operation = {
  kind: 'authorization',
  state: 'in_progress',
  amount_cents: terms.amountCents,
  idempotency_key: progress.operation.idempotencyKey
}
const LOCATION = `/v1/payments/${PAYMENT_ID}`

describe('payment POSTs: from a submission to an answer', () => {
  const api = useApi()

  const routes = {
    create: { path: '/v1/payments', body: aCreateBody() },
    capture: { path: `${LOCATION}/capture`, body: undefined },
    cancel: { path: `${LOCATION}/cancel`, body: undefined }
  } as const
  const post = (name: keyof typeof routes) => api.request('POST', routes[name].path, { body: routes[name].body })

  it('4.1: a first create is 201 with the payment and its Location', async () => {
    api.payments.submission = finished(succeeded)
    const answer = await post('create')
    expect(answer.status).to.equal(201)
    expect(answer.headers.get('Location')).to.equal(LOCATION)
    expect(answer.headers.has('Idempotent-Replayed')).to.equal(false)
    expect(answer.body).to.include({ id: PAYMENT_ID, status: 'captured' })
  })

  for (const name of ['capture', 'cancel'] as const) {
    it(`${name === 'capture' ? '4.2' : '4.3'}: a ${name} is 200 with the payment`, async () => {
      api.payments.submission = finished(succeeded)
      const answer = await post(name)
      expect(answer.status).to.equal(200)
      expect(answer.body).to.include({ id: PAYMENT_ID })
    })
  }

  for (const name of ['create', 'capture', 'cancel'] as const) {
    it(`5.1: the replay of a ${name} is 200 with the original result, marked as a replay`, async () => {
      api.payments.submission = finished(succeeded, true)
      const answer = await post(name)
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('Idempotent-Replayed')).to.equal('true')
      expect(answer.body).to.include({ id: PAYMENT_ID, status: 'captured' })
    })

    it(`5.1: the replay of a ${name} that failed is the same error`, async () => {
      api.payments.submission = finished({ kind: 'failed', code: 'provider_rejected' })
      const first = await post(name)
      api.payments.submission = finished({ kind: 'failed', code: 'provider_rejected' }, true)
      const second = await post(name)
      expect(second.status).to.equal(first.status).and.to.equal(422)
      expect({ ...second.error, request_id: '' }).to.deep.equal({ ...first.error, request_id: '' })
      expect(second.headers.get('Idempotent-Replayed')).to.equal('true')
    })

    it(`5.1, 5.3: a ${name} without a result in time is 202 with the payment as it stands`, async () => {
      api.payments.submission = inProgress
      const answer = await post(name)
      expect(answer.status).to.equal(202)
      expect(answer.headers.get('Location')).to.equal(LOCATION)
      expect(Number(answer.headers.get('Retry-After'))).to.be.greaterThan(0)
      expect(answer.body).to.deep.include({ operation })
      expect(answer.headers.has('Idempotent-Replayed')).to.equal(false)
      api.payments.submission = { ...inProgress, isReplay: true }
      expect((await post(name)).headers.get('Idempotent-Replayed')).to.equal('true')
    })

    it(`5.1: the key of another request is 409 idempotency_conflict (${name})`, async () => {
      api.payments.submission = { kind: 'conflict', paymentId: terms.id }
      const answer = await post(name)
      expect(answer.status).to.equal(409)
      expect(answer.error).to.include({ code: 'idempotency_conflict', retryable: false, payment_id: terms.id })
    })
  }

  it('5.1: the key of a create that is still running is 409 idempotency_in_progress, with the payment to read', async () => {
    api.payments.submission = { kind: 'create_in_progress', paymentId: PAYMENT_ID }
    const answer = await post('create')
    expect(answer.status).to.equal(409)
    expect(answer.error).to.include({ code: 'idempotency_in_progress', retryable: true, payment_id: PAYMENT_ID })
    expect(answer.headers.get('Location')).to.equal(LOCATION)
    expect(Number(answer.headers.get('Retry-After'))).to.be.greaterThan(0)
  })

  it('4.4: capture and cancel of a payment that is not the merchant’s are 404 not_found', async () => {
    api.payments.submission = { kind: 'not_found' }
    for (const name of ['capture', 'cancel'] as const) {
      const answer = await post(name)
      expect([answer.status, answer.error['code']]).to.deep.equal([404, 'not_found'])
    }
  })

  const failures: readonly [FailureCode, status: number, retryable: boolean, code?: string][] = [
    ['card_declined', 422, false],
    ['card_expired', 422, false],
    ['invalid_token', 422, false],
    ['provider_rejected', 422, false],
    ['network_unavailable', 503, true],
    ['card_unreadable', 503, true, 'network_unavailable'],
    ['authorization_overdue', 503, true],
    ['capture_rejected', 422, false, 'provider_rejected'],
    ['capture_not_sent', 503, false, 'network_unavailable']
  ]
  for (const [failure, status, retryable, code = failure] of failures) {
    it(`7: a create that failed with ${failure} is ${status}, with the id and the Location of the payment`, async () => {
      api.payments.submission = finished({ kind: 'failed', code: failure })
      const answer = await post('create')
      expect(answer.status).to.equal(status)
      expect(answer.error).to.include({ code, retryable, payment_id: PAYMENT_ID })
      expect(answer.headers.get('Location')).to.equal(LOCATION)
      expect(answer.headers.has('Retry-After')).to.equal(status === 503 && retryable)
    })
  }

  const refusals: readonly ['capture' | 'cancel', RefusalCode, status: number, code: string, retryable: boolean][] = [
    ['capture', 'invalid_state', 409, 'invalid_state', false],
    ['cancel', 'operation_in_progress', 409, 'invalid_state', true],
    ['capture', 'preauth_expired', 422, 'preauth_expired', false],
    ['capture', 'amount_exceeds_authorized', 422, 'amount_exceeds_authorized', false],
    ['cancel', 'amount_exceeds_refundable', 422, 'amount_exceeds_refundable', false],
    ['cancel', 'too_many_refunds', 422, 'too_many_refunds', false],
    ['cancel', 'partial_void', 400, 'invalid_request', false]
  ]
  for (const [operation, refusal, status, code, retryable] of refusals) {
    it(`7: the refusal ${refusal} is ${status} ${code}`, async () => {
      api.payments.submission = finished({ kind: 'refused', code: refusal })
      const answer = await post(operation)
      expect(answer.status).to.equal(status)
      expect(answer.error).to.include({ code, retryable, payment_id: PAYMENT_ID })
      const paths = answer.error.fields?.map(field => field.path)
      expect(paths).to.deep.equal(refusal === 'partial_void' ? ['amount_cents'] : undefined)
      expect(answer.headers.has('Retry-After')).to.equal(refusal === 'operation_in_progress')
    })
  }

  it('a stored card that is unknown is 422 invalid_card, before anything is accepted', async () => {
    api.payments.submission = new ServiceError('unknown_card')
    const answer = await post('create')
    expect(answer.status).to.equal(422)
    expect(answer.error['message']).to.contain('card_id')
    expect(answer.error).to.include({ code: 'invalid_card' }).and.not.to.have.property('payment_id')
  })
})

describe('payment POSTs: from a request to a command', () => {
  const api = useApi({ env: { RESULT_WAIT_MS: '7000' } }, beforeEach)
  beforeEach(() => {
    api.payments.submission = finished(succeeded)
  })

  it('2.2: fills in the defaults', async () => {
    await api.request('POST', '/v1/payments', { body: aCreateBody() })
    const request = api.payments.creates[0]?.request
    expect(request?.terms).to.deep.equal({
      externalReference: 'order-1',
      captureMode: 'auto',
      amountCents: 15_990,
      currency: 'BRL',
      installments: 1,
      ...noTexts,
      customer: { name: 'Maria da Silva', email: 'maria@example.com' },
      metadata: null
    })
    expect(request?.source).to.deep.equal({ type: 'token', tokenId: 'tok_1' })
    expect(request?.cvv).to.equal(null)
    expect(request?.buyer.address).to.include({ zipCode: '01310100', complement: null, city: 'São Paulo' })
  })

  it('2.2: takes over every field', async () => {
    const body = {
      ...aCreateBody(),
      currency: 'BRL',
      installments: 12,
      capture: false,
      statement_descriptor: 'LOJA',
      payment_source: { source_type: 'card', card_id: 'card_1', cvv: '0123' },
      metadata: { constructor: 'a', n: 1 }
    }
    await api.request('POST', '/v1/payments', { body })
    const request = api.payments.creates[0]?.request
    expect(request?.terms).to.deep.include({
      captureMode: 'manual',
      installments: 12,
      statementDescriptor: 'LOJA',
      metadata: { constructor: 'a', n: 1 }
    })
    expect(request?.source).to.deep.equal({ type: 'card', cardId: 'card_1', hasCvv: true })
    expect(request?.cvv).to.equal('0123')
  })

  for (const [name, body, amountCents] of [
    ['no body', undefined, null],
    ['an empty object', {}, null],
    ['an amount', { amount_cents: 991 }, 991]
  ] as const) {
    it(`4.2, 4.3: capture and cancel take ${name}`, async () => {
      for (const command of ['capture', 'cancel']) {
        const answer = await api.request('POST', `/v1/payments/${PAYMENT_ID.toUpperCase()}/${command}`, { body })
        expect(answer.status).to.equal(200)
      }
      expect(api.payments.commands).to.have.length(2)
      for (const command of api.payments.commands) expect(command).to.include({ paymentId: PAYMENT_ID, amountCents })
    })
  }

  for (const amount of [0, -1, 1.5, '100', null, 1_000_000_000_000]) {
    it(`4.2, 4.3: capture and cancel refuse amount_cents ${JSON.stringify(amount)}`, async () => {
      for (const command of ['capture', 'cancel']) {
        const answer = await api.request('POST', `${LOCATION}/${command}`, { body: { amount_cents: amount } })
        expect(answer.status).to.equal(400)
        expect(answer.error.fields?.map(field => field.path)).to.deep.equal(['amount_cents'])
      }
      expect(api.payments.commands).to.have.length(0)
    })
  }

  it('5: acts for the merchant of the key, under the Idempotency-Key and the X-Correlation-Id of the request', async () => {
    const correlation = '0d0e0f00-0000-4000-8000-00000000000A'
    const headers = { 'Idempotency-Key': 'a key ~ with spaces', 'X-Correlation-Id': correlation }
    await api.request('POST', '/v1/payments', { body: aCreateBody(), headers })
    expect(api.payments.creates[0]?.scope).to.include({
      merchantId: 'm_one',
      idempotencyKey: 'a key ~ with spaces',
      correlationId: correlation,
      waitMs: 7_000
    })
  })

  it('5.1: one body to two payments, or to capture and cancel, is not the same body; the case of the id does not count', async () => {
    const other = '019a0000-0000-7000-8000-000000001005'
    const send = async (path: string): Promise<string | undefined> => {
      await api.request('POST', path, { body: { amount_cents: 100 } })
      return api.payments.commands.at(-1)?.scope.fingerprint
    }
    const first = await send(`${LOCATION}/capture`)
    expect(await send(`/v1/payments/${PAYMENT_ID.toUpperCase()}/capture`)).to.equal(first)
    expect(await send(`/v1/payments/${other}/capture`)).not.to.equal(first)
    expect(await send(`${LOCATION}/cancel`)).not.to.equal(first)
  })

  it('takes an Idempotency-Key of 255 characters', async () => {
    const key = '~'.repeat(255)
    await api.request('POST', '/v1/payments', { body: aCreateBody(), headers: { 'Idempotency-Key': key } })
    expect(api.payments.creates[0]?.scope.idempotencyKey).to.equal(key)
  })

  for (const [prefer, waitMs] of [
    ['wait=0', 0],
    ['wait=30', 30_000],
    ['respond-async, wait=3', 3_000],
    ['Wait = "4"', 4_000],
    ['wait=31', 7_000],
    ['wait=-1', 7_000],
    ['wait=1.5', 7_000],
    ['wait=soon', 7_000],
    ['wait=', 7_000]
  ] as const) {
    it(`Prefer: ${prefer} waits ${waitMs} ms`, async () => {
      const answer = await api.request('POST', '/v1/payments', { body: aCreateBody(), headers: { Prefer: prefer } })
      expect(api.payments.creates[0]?.scope.waitMs).to.equal(waitMs)
      expect(answer.headers.get('Preference-Applied')).to.equal(waitMs === 7_000 ? null : `wait=${waitMs / 1_000}`)
    })
  }

  it('Preference-Applied belongs to the result of a payment: without one, nothing was waited for', async () => {
    const headers = { Prefer: 'wait=3' }
    const wrong = await api.request('POST', `/v1/payments/no-id/capture`, { headers })
    api.payments.submission = { kind: 'not_found' }
    const unknown = await api.request('POST', `${LOCATION}/capture`, { headers })
    expect([wrong.status, unknown.status]).to.deep.equal([404, 404])
    for (const answer of [wrong, unknown]) expect(answer.headers.get('Preference-Applied')).to.equal(null)
  })
})
