/**
 * The acquirer's answers to calls that move money, in our words: exchange in, `CallOutcome` out. Pure.
 *
 * A 2xx is no success: the body decides. Fields come and go, types vary. An answer that cannot be read for certain
 * is `ambiguous`, never a refusal.
 */
import type { AuthoriseRequest, CallOutcome, NetworkReferences } from '../../machines/network.js'
import { isRecord, parseJson } from '../../runtime/json.js'
import {
  type CodeMeaning,
  captureMeaning,
  errorMeaning,
  isFinalDenial,
  isVoidTooLate,
  voidMeaning
} from './return-codes.js'
import type { Exchange } from './transport.js'
import { integerIn, isGiven, type Json, SaleStatus, textIn } from './wire-fields.js'

/** HTTP answers that the acquirer gives before it looks at a sale: nothing was booked, regardless of the body. */
const REFUSING_HTTP = [401, 403, 404, 405]

/** What was asked for: an answer about anything else decides nothing. */
type Asked = Pick<AuthoriseRequest, 'orderId' | 'amountCents'>

/** Reads the answer to `POST /1/sales/`. */
export function readAuthorisation(exchange: Exchange, asked: Asked): CallOutcome {
  if (exchange.kind !== 'answered') return exchange
  return refusalIn(exchange) ?? saleOutcome(parseJson(exchange.text), asked)
}

/** Reads the answer to a capture of the sale `saleId`. */
export function readCapture(exchange: Exchange, saleId: string): CallOutcome {
  return readOperation(exchange, saleId, { meaningOf: captureMeaning, isTooLate: () => false }, [SaleStatus.captured])
}

/**
 * Reads the answer to a void or refund of the sale `saleId`. A refund of a part leaves the sale captured; a void of the
 * whole (`isWhole`) that leaves it captured has undone nothing.
 */
export function readVoid(exchange: Exchange, saleId: string, { isWhole }: { isWhole: boolean }): CallOutcome {
  const undone = [SaleStatus.voided, SaleStatus.refunded]
  const done = isWhole ? undone : [...undone, SaleStatus.captured]
  return readOperation(exchange, saleId, { meaningOf: voidMeaning, isTooLate: isVoidTooLate }, done)
}

function saleOutcome(body: unknown, asked: Asked): CallOutcome {
  const payment = isRecord(body) ? body['Payment'] : undefined
  if (!isRecord(body) || !isRecord(payment)) return ambiguous('an answer without a payment')
  if ((textIn(body, 'MerchantOrderId') ?? asked.orderId) !== asked.orderId) return ambiguous('a sale of another order')
  const status = integerIn(payment, 'Status')
  const references = referencesIn(payment)
  if (status === SaleStatus.denied || status === SaleStatus.aborted) {
    const code = textIn(payment, 'ReturnCode') ?? 'unspecified'
    if (isFinalDenial(code)) return { kind: 'declined', code, references }
    return ambiguous(`a denial with the code ${code}, which asks to query first`)
  }
  const isCaptured = status === SaleStatus.captured
  if (!isCaptured && status !== SaleStatus.authorised) return ambiguous(`a sale in status ${status}`)
  // The query returns the amount that counts; until then no amount is reported.
  const amounts = isCaptured ? ['Amount', 'CapturedAmount'] : ['Amount']
  if (amounts.some(field => isGiven(payment, field) && integerIn(payment, field) !== asked.amountCents)) {
    return ambiguous('a sale of another amount')
  }
  // Without its id the sale could be neither captured nor voided; the query gives it.
  if (references.saleId === null) return ambiguous('an approved sale without an id')
  return { kind: 'approved', isCaptured, references }
}

function readOperation(
  exchange: Exchange,
  saleId: string,
  { meaningOf, isTooLate }: { meaningOf: (code: string) => CodeMeaning; isTooLate: (code: string) => boolean },
  doneStatuses: readonly number[]
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
  const meaning = meaningOf(code)
  if (meaning === 'refused')
    return isTooLate(code) ? { kind: 'rejected', code, isTooLate: true } : { kind: 'rejected', code }
  if (meaning === 'ask') return ambiguous(`the return code ${code}`)
  if (!doneStatuses.includes(status)) return ambiguous(`the return code ${code} with status ${status}`)
  const isCaptured = status === SaleStatus.captured
  return { kind: 'approved', isCaptured, references: { ...referencesIn(body), saleId } }
}

/** The answer to a capture or void has no field for its sale; only the addresses in `Links` name it. */
function namesAnotherSale({ Links: links }: Json, saleId: string): boolean {
  const addresses = Array.isArray(links) ? links.map(link => (isRecord(link) ? (textIn(link, 'Href') ?? '') : '')) : []
  const named = addresses.flatMap(address => /\/1\/sales\/([\da-f-]{36})/i.exec(address)?.[1]?.toLowerCase() ?? [])
  return named.some(id => id !== saleId.toLowerCase())
}

/** What an answer other than 2xx means; `null` for a 2xx. */
function refusalIn({ status, text }: { status: number; text: string }): CallOutcome | null {
  if (status >= 200 && status < 300) return null
  if (status !== 400 && !REFUSING_HTTP.includes(status)) return ambiguous(`HTTP ${status}`)
  const errorCodes = errorCodesIn(parseJson(text))
  const doubtful = errorCodes.find(code => errorMeaning(code) === 'ask')
  if (doubtful !== undefined) return ambiguous(`HTTP ${status} with the error code ${doubtful}`)
  if (errorCodes[0] !== undefined) return { kind: 'rejected', code: errorCodes[0] }
  return status === 400 ? ambiguous('HTTP 400 without an error code') : { kind: 'rejected', code: `http_${status}` }
}

/** The codes of an error body: an array of `{Code, Message}`, or one such object. */
export function errorCodesIn(body: unknown): readonly string[] {
  const errors: readonly unknown[] = Array.isArray(body) ? body : [body]
  return errors.flatMap(error => (isRecord(error) ? (textIn(error, 'Code') ?? []) : []))
}

/** The transaction identifiers of a payment object, or of the flat answer to a capture or void. */
export function referencesIn(payment: Json): NetworkReferences {
  return {
    saleId: textIn(payment, 'PaymentId'),
    tid: textIn(payment, 'Tid'),
    nsu: textIn(payment, 'ProofOfSale'),
    authorizationCode: textIn(payment, 'AuthorizationCode')
  }
}

function ambiguous(reason: string): CallOutcome {
  return { kind: 'ambiguous', reason: `The card network gave ${reason}.` }
}
