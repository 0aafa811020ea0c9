import { expect } from 'chai'
import { WebhookError, webhooks } from '../../client/index.js'
import { signatureHeader } from '../../workers/webhooks/signature.js'

const NOW_MS = Date.UTC(2026, 0, 2, 12)
const SECRET = 'whsec_0123456789'
const BODY = '{"event_id":"1","external_reference":"pedido nº 7 – “ação”"}'
const header = signatureHeader([SECRET], NOW_MS, BODY)

interface Change {
  readonly header?: string | readonly string[] | null
  readonly body?: string | Uint8Array
  readonly secrets?: string | readonly string[]
  readonly nowMs?: number
  readonly toleranceMs?: number
}

/** The reference of the event, or the code of the error. */
function verified(change: Change = {}): string {
  const { body = BODY, secrets = SECRET, nowMs = NOW_MS, toleranceMs } = change
  const given = change.header === undefined ? header : change.header
  try {
    return webhooks.verify(body, given, secrets, { nowMs, toleranceMs }).external_reference
  } catch (error) {
    return error instanceof WebhookError ? error.code : String(error)
  }
}

describe('webhooks.verify', () => {
  const reference = 'pedido nº 7 – “ação”'

  it('gives the event that the service signed, from bytes or text', () => {
    expect(verified()).to.equal(reference)
    expect(verified({ body: Buffer.from(BODY) })).to.equal(reference)
    expect(verified({ body: new TextEncoder().encode(BODY) })).to.equal(reference)
  })

  it('accepts either secret during a rotation, on either side', () => {
    const both = signatureHeader(['whsec_new', SECRET], NOW_MS, BODY)
    for (const secrets of ['whsec_new', SECRET]) expect(verified({ header: both, secrets })).to.equal(reference)
    expect(verified({ secrets: ['whsec_new', SECRET] })).to.equal(reference)
  })

  it('tolerates 300 s in both directions, or the configured time', () => {
    for (const late of [-300_000, 300_000]) expect(verified({ nowMs: NOW_MS + late })).to.equal(reference)
    for (const late of [-300_001, 300_001]) expect(verified({ nowMs: NOW_MS + late })).to.equal('outside_tolerance')
    expect(verified({ nowMs: NOW_MS + 5_000, toleranceMs: 4_999 })).to.equal('outside_tolerance')
  })

  it('refuses a tolerance or a time that is no number: every age would do', () => {
    for (const change of [{ toleranceMs: Number.NaN }, { toleranceMs: -1 }, { nowMs: Number.NaN }]) {
      expect(verified(change)).to.match(/^TypeError: `toleranceMs` must be a number of 0 or more/)
    }
    expect(verified({ toleranceMs: '5m' as never })).to.contain('TypeError')
  })

  it('says by how much a signature is too old, or from the future', () => {
    const message = (lateMs: number): string => {
      try {
        return webhooks.verify(BODY, header, SECRET, { nowMs: NOW_MS + lateMs }).status
      } catch (error) {
        return String(error)
      }
    }
    expect(message(301_000)).to.contain('signed 301 s before now, and at most 300 s')
    expect(message(-7_200_000)).to.contain('signed 7200 s after now')
  })

  it('takes a header that was sent in several lines', () => {
    expect(verified({ header: header.split(',') })).to.equal(reference)
  })

  const [time, signature = ''] = header.split(',')
  const wrong: readonly (readonly [string, string, Change])[] = [
    ['wrong_signature', 'another body', { body: `${BODY} ` }],
    ['wrong_signature', 'another secret', { secrets: 'whsec_other' }],
    ['wrong_signature', 'another time', { header: `t=${NOW_MS / 1_000 + 1},${signature}` }],
    ['wrong_signature', 'an empty signature', { header: `${time},v1=` }],
    ['wrong_signature', 'a short signature', { header: `${time},${signature.slice(0, -2)}` }],
    ['malformed_header', 'another version', { header: `${time},v0=${signature.slice(3)}` }],
    ['malformed_header', 'no time', { header: signature }],
    ['malformed_header', 'a time in words', { header: `t=soon,${signature}` }],
    ['malformed_header', 'no signature', { header: String(time) }],
    ['malformed_header', 'an empty header', { header: '' }],
    ['malformed_header', 'no header', { header: null }],
    ['unreadable', 'a body that is no object', { body: '7', header: signatureHeader([SECRET], NOW_MS, '7') }]
  ]
  for (const [code, what, change] of wrong) {
    it(`refuses ${what}: ${code}`, () => {
      expect(verified(change)).to.equal(code)
    })
  }

  it('throws for a body or secret that cannot be verified: a parsed body, or an empty secret', () => {
    const parsed = JSON.parse(BODY) as string
    expect(verified({ body: parsed })).to.contain('before a JSON parser')
    for (const secrets of ['', [], [SECRET, '']]) expect(verified({ secrets })).to.contain('none of them empty')
  })
})
