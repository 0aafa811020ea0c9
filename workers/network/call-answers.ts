/**
 * The acquirer's answers to calls that move money, in our words: exchange in, `CallOutcome` out. Pure.
 *
 * A 2xx is no success: the body decides. Fields come and go, types vary. What an answer proves is one table
 * (machines/acquirer-answers.ts); one that cannot be read for certain is never a refusal.
 */

import {
  type Proof,
  proofOfCapture,
  proofOfDenial,
  proofOfError,
  proofOfStatus,
  proofOfVoid
} from '../../machines/acquirer-answers.js'
import { plainCode } from '../../machines/declines.js'
import { CURRENCY } from '../../machines/model.js'
import type { AuthoriseRequest, CallOutcome, NetworkReferences } from '../../machines/network.js'
import { isRecord, parseJson } from '../../runtime/json.js'
import type { Exchange } from './transport.js'
import { hasValue, idIn, integerIn, SaleStatus, textIn, type WireObject } from './wire-fields.js'

/** Return codes of an approved sale: by an issuer at home or abroad, in the acquirer's test system, or captured there. */
const APPROVED_CODES = ['0', '11', '4', '6']

/** What was asked for: an answer about anything else decides nothing. */
type Asked = Pick<AuthoriseRequest, 'orderId' | 'amountCents'>

/** Reads the answer to `POST /1/sales/`. */
export function readAuthorisation(exchange: Exchange, asked: Asked): CallOutcome {
  if (exchange.kind !== 'answered') return exchange
  return refusalIn(exchange) ?? saleOutcome(parseJson(exchange.text), asked)
}

/** Reads the answer to a capture of the sale `saleId`. */
export function readCapture(exchange: Exchange, saleId: string): CallOutcome {
  return readOperation(exchange, saleId, proofOfCapture, {
    done: [SaleStatus.captured],
    showing: [SaleStatus.captured]
  })
}

/**
 * Reads the answer to a void or refund of the sale `saleId`. A refund of a part leaves the sale captured; a void of the
 * whole (`isWhole`) that leaves it captured has undone nothing.
 */
export function readVoid(exchange: Exchange, saleId: string, { isWhole }: { isWhole: boolean }): CallOutcome {
  const done = isWhole ? CLOSED : [...CLOSED, SaleStatus.captured]
  return readOperation(exchange, saleId, proofOfVoid, { done, showing: CLOSED })
}

const CLOSED: readonly number[] = [SaleStatus.voided, SaleStatus.refunded]

function saleOutcome(body: unknown, asked: Asked): CallOutcome {
  const payment = isRecord(body) ? body['Payment'] : undefined
  if (!isRecord(body) || !isRecord(payment)) return ambiguous('an answer without a payment')
  if ((idIn(body, 'MerchantOrderId') ?? asked.orderId) !== asked.orderId) return ambiguous('a sale of another order')
  const status = integerIn(payment, 'Status')
  switch (status) {
    case SaleStatus.denied:
    case SaleStatus.aborted:
      return denialOutcome(payment)
    case SaleStatus.authorised:
    case SaleStatus.captured:
      return approvalOutcome(payment, asked, status === SaleStatus.captured)
    default:
      return ambiguous(`a sale in status ${status}`)
  }
}

function isApprovedCode(code: string | null): boolean {
  return code !== null && APPROVED_CODES.includes(plainCode(code))
}

function denialOutcome(payment: WireObject): CallOutcome {
  const code = textIn(payment, 'ReturnCode')
  if (isApprovedCode(code)) return unproven(`a denial with the code ${code} of an approval`)
  if (proofOfDenial(code ?? '') !== 'refused')
    return ambiguous(`a denial with the code ${code}, which asks to query first`)
  return { kind: 'declined', code: code ?? 'unspecified', references: referencesIn(payment) }
}

function approvalOutcome(payment: WireObject, asked: Asked, isCaptured: boolean): CallOutcome {
  const code = textIn(payment, 'ReturnCode')
  const references = referencesIn(payment)
  if (code !== null && !isApprovedCode(code)) return unproven(`an approval with the code ${code}`)
  // The query returns the amount that counts; until then no amount is reported.
  const amounts = isCaptured ? ['Amount', 'CapturedAmount'] : ['Amount']
  if (amounts.some(field => hasValue(payment, field) && integerIn(payment, field) !== asked.amountCents)) {
    return unproven('a sale of another amount')
  }
  if ((textIn(payment, 'Currency') ?? CURRENCY).toUpperCase() !== CURRENCY)
    return unproven('a sale in another currency')
  // Without its id the sale could be neither captured nor voided; the query gives it.
  if (references.saleId === null) return unproven('an approved sale without an id')
  return { kind: 'approved', isCaptured, references }
}

/** `done`: statuses that an approval may have. `showing`: statuses that show the operation, with any code. */
function readOperation(
  exchange: Exchange,
  saleId: string,
  proofOf: (code: string) => Proof,
  { done, showing }: { readonly done: readonly number[]; readonly showing: readonly number[] }
): CallOutcome {
  if (exchange.kind !== 'answered') return exchange
  const refusal = refusalIn(exchange)
  if (refusal !== null) return refusal
  const body = parseJson(exchange.text)
  if (!isRecord(body)) return ambiguous('an answer that is not an object')
  if (namesAnotherSale(body, saleId)) return ambiguous('an answer about another sale')
  const status = integerIn(body, 'Status')
  const code = textIn(body, 'ReturnCode')
  if (code === null || status === null) return ambiguous('an answer without status and return code')
  const proof = proofOf(code)
  const isRefusal = proof === 'refused' || proof === 'too_late'
  if (isRefusal && showing.includes(status)) return unproven(`the return code ${code} with status ${status}`)
  if (proof !== 'done') return outcomeOf(proof, code, `the return code ${code}`)
  if (!done.includes(status)) return ambiguous(`the return code ${code} with status ${status}`)
  const unreadable = ['CapturedAmount', 'VoidedAmount'].find(
    field => hasValue(body, field) && integerIn(body, field) === null
  )
  if (unreadable !== undefined) return unproven(`a ${unreadable} that is not an amount`)
  return {
    kind: 'approved',
    isCaptured: status === SaleStatus.captured,
    references: { ...referencesIn(body), saleId },
    stated: {
      capturedCents: integerIn(body, 'CapturedAmount'),
      voidedCents: integerIn(body, 'VoidedAmount'),
      isClosed: CLOSED.includes(status)
    }
  }
}

/** By its documents the answer to a capture or void has no field for its sale: the addresses in `Links` name it. */
function namesAnotherSale(body: WireObject, saleId: string): boolean {
  const { Links: links } = body
  const addresses = Array.isArray(links) ? links.map(link => (isRecord(link) ? String(link['Href']) : '')) : []
  const linked = addresses.flatMap(address => /\/1\/sales\/([\da-f-]{36})/i.exec(address)?.[1]?.toLowerCase() ?? [])
  const own = saleId.toLowerCase()
  return [...linked, idIn(body, 'PaymentId') ?? own].some(id => id !== own)
}

/** What an answer other than 2xx means; `null` for a 2xx. Of several error codes, the least certain one counts. */
function refusalIn({ status, text }: { status: number; text: string }): CallOutcome | null {
  if (status >= 200 && status < 300) return null
  const byStatus = proofOfStatus(status)
  const codes = byStatus === 'unexplained' ? errorCodesIn(parseJson(text)) : []
  const doubtful = codes.find(code => proofOfError(code) !== 'refused')
  if (doubtful !== undefined) return unproven(`HTTP ${status} with the error code ${doubtful}`)
  if (codes[0] !== undefined) return { kind: 'rejected', code: codes[0] }
  return outcomeOf(byStatus, `http_${status}`, `HTTP ${status} without an error code`)
}

function outcomeOf(proof: Proof, code: string, reason: string): CallOutcome {
  switch (proof) {
    case 'refused':
      return { kind: 'rejected', code }
    case 'too_late':
      return { kind: 'rejected', code, isTooLate: true }
    case 'unproven':
      return unproven(reason)
    case 'unexplained':
      return { ...unproven(reason), mayArrive: true }
    default:
      return ambiguous(reason)
  }
}

/** The codes of an error body: an array of `{Code, Message}`, or one such object. */
export function errorCodesIn(body: unknown): readonly string[] {
  const errors: readonly unknown[] = Array.isArray(body) ? body : [body]
  return errors.flatMap(error => (isRecord(error) ? (textIn(error, 'Code') ?? []) : []))
}

/** The transaction identifiers of a payment object, or of the flat answer to a capture or void. */
export function referencesIn(payment: WireObject): NetworkReferences {
  return {
    saleId: idIn(payment, 'PaymentId'),
    tid: textIn(payment, 'Tid'),
    nsu: textIn(payment, 'ProofOfSale'),
    authorizationCode: textIn(payment, 'AuthorizationCode')
  }
}

function unproven(reason: string): Extract<CallOutcome, { kind: 'unproven' }> {
  return { kind: 'unproven', reason: `The card network gave ${reason}.` }
}

function ambiguous(reason: string): CallOutcome {
  return { kind: 'ambiguous', reason: `The card network gave ${reason}.` }
}
