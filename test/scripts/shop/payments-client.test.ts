import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { close, listen } from '../../../runtime/ops-server.js'
import { type Answer, type MoneyRequest, PaymentsClient } from '../../../scripts/shop/payments-client.js'

const request: MoneyRequest = { path: '/v1/payments', idempotencyKey: 'o1.pay.1', body: { amount_cents: 1 } }
const captured = { id: 'p1', status: 'captured', captured_cents: 1, refunded_cents: 0 }
const error = (code: string): object => ({ error: { code } })

/** What the service answers, one after the other; null cuts the connection. */
type Script = readonly (readonly [status: number, body: object] | null)[]

describe('the shop’s client of the payments API', () => {
  let server: Server | undefined
  afterEach(() => server && close(server))

  async function send(script: Script): Promise<{ answer: Answer; sent: string[] }> {
    const sent: string[] = []
    server = createServer((incoming, response) => {
      let text = ''
      incoming.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      incoming.on('end', () => {
        const step = script[sent.length]
        sent.push(`${incoming.headers['idempotency-key']} ${text}`)
        if (!step) incoming.socket.destroy()
        else response.writeHead(step[0], { Connection: 'close' }).end(JSON.stringify(step[1]))
      })
    })
    await listen(server, 0, '127.0.0.1')
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const client = new PaymentsClient({ baseUrl, tokensUrl: '', apiKey: 'key', publishableKey: '' })
    return { answer: await client.send(request), sent }
  }

  for (const [what, script] of [
    ['the connection is cut', [null, [201, captured]]],
    [
      'the service is broken',
      [
        [500, error('internal_error')],
        [201, captured]
      ]
    ],
    [
      'the service is still busy with it',
      [
        [409, error('idempotency_in_progress')],
        [200, captured]
      ]
    ]
  ] as const satisfies readonly (readonly [string, Script])[]) {
    it(`sends the same request under the same key again when ${what}`, async () => {
      const { answer, sent } = await send(script)
      expect(answer).to.deep.equal({ kind: 'payment', payment: captured })
      expect(sent).to.deep.equal(Array(2).fill('o1.pay.1 {"amount_cents":1}'))
    })
  }

  it('holds the outcome for unclear when no answer comes, and guesses nothing', async () => {
    const { answer, sent } = await send([null, null, null])
    expect(answer).to.deep.equal({ kind: 'unclear' })
    expect(new Set(sent).size).to.equal(1)
  })

  for (const [status, code] of [
    [401, 'unauthorized'],
    [403, 'merchant_disabled'],
    [408, 'request_timeout'],
    [429, 'rate_limited']
  ] as const) {
    it(`does not take ${code} for a no: a request before it may have been accepted`, async () => {
      const refusal = [status, error(code)] as const
      expect((await send([null, refusal, refusal])).answer).to.deep.equal({ kind: 'unclear' })
    })
  }

  for (const [status, code] of [
    [422, 'card_declined'],
    [503, 'network_unavailable'],
    [409, 'invalid_state'],
    [400, 'invalid_request']
  ] as const) {
    it(`takes ${code} for the final no that it is`, async () => {
      const { answer, sent } = await send([[status, error(code)]])
      expect(answer).to.deep.equal({ kind: 'refused', code, payment: null })
      expect(sent).to.have.length(1)
    })
  }

  const rejected = { error: { code: 'provider_rejected', payment_id: 'p1' } }

  it('reads the payment that a refusal names: its amount may be held', async () => {
    const { answer } = await send([
      [422, rejected],
      [200, { ...captured, status: 'pre_authorized' }]
    ])
    expect(answer).to.have.nested.property('payment.status', 'pre_authorized')
    expect(answer).to.include({ kind: 'refused', code: 'provider_rejected' })
  })

  it('holds a refusal for unclear while that payment cannot be read', async () => {
    const { answer } = await send([[422, rejected], null])
    expect(answer).to.deep.equal({ kind: 'unclear' })
  })
})
