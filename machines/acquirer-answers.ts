/**
 * What an answer of the acquirer proves about a call that moves money: one row for each group of answers. Pure.
 *
 * Source: the acquirer's manual (return codes of captures and voids, error codes, HTTP status codes). docs/MACHINES.md has
 * the same tables. A code that is in no row is `unproven`: it proves nothing, and the acquirer has ended with the call.
 */
import { plainCode } from './declines.js'

/**
 * - `done`: it was booked.
 * - `refused`: it was not booked, and never will be.
 * - `too_late`: refused, because the time for it is over: the hold has lapsed.
 * - `unproven`: the acquirer answered and has ended with this call. The record decides whether it was booked.
 * - `unexplained`: refused without a code. The record decides, but the call may still be booked until the horizon, because a
 *   gateway may have answered. It is not sent again.
 * - `open`: the call may still be booked, as if there were no answer.
 */
export type Proof = 'done' | 'refused' | 'too_late' | 'unproven' | 'unexplained' | 'open'

export interface AnswerRow {
  readonly proof: Proof
  /** Separated by spaces, without leading zeros. */
  readonly codes: string
  readonly means: string
}

/** `Payment.ReturnCode` of a sale that was denied or aborted. All others are final denials: `refused`. */
export const deniedSaleRows: readonly AnswerRow[] = [
  { proof: 'open', codes: 'BP900 BP901', means: 'sending or authorising failed; the acquirer says to query first' }
]

/** `ReturnCode` of a capture. */
export const captureRows: readonly AnswerRow[] = [
  { proof: 'done', codes: '0 4 6', means: 'captured' },
  { proof: 'refused', codes: '2', means: 'bad credentials' },
  { proof: 'refused', codes: '3', means: 'sale not found' },
  { proof: 'refused', codes: '842', means: 'amount above the sale' },
  { proof: 'refused', codes: '843', means: 'deadline passed' },
  { proof: 'open', codes: 'BP902', means: 'another operation is in progress' },
  { proof: 'unproven', codes: '841', means: 'the state does not allow it: an earlier try may be the reason' },
  { proof: 'unproven', codes: '999', means: 'system failure' }
]

/** `ReturnCode` of a void or refund. */
export const voidRows: readonly AnswerRow[] = [
  { proof: 'done', codes: '0 9', means: 'voided or refunded; the record has the amount' },
  { proof: 'refused', codes: '3 52 77 116', means: 'sale not found' },
  { proof: 'too_late', codes: '40 101', means: 'deadline passed' },
  { proof: 'refused', codes: '53 100 120 121', means: 'not permitted' },
  { proof: 'refused', codes: '58 60 160 209 215 217', means: 'other data than those of the sale' },
  { proof: 'refused', codes: '103 104 105 106 108', means: 'registration of the merchant' },
  { proof: 'refused', codes: '6 43 55 56 72 76', means: 'no balance' },
  { proof: 'refused', codes: '51 102 206 221', means: 'above the amount that is left' },
  { proof: 'refused', codes: '57 117', means: 'not now, another request may succeed later' },
  { proof: 'refused', codes: '54 477 576', means: 'definitive, without a reason' },
  { proof: 'open', codes: '5 10 223 476 BP902', means: 'another void of this sale is in progress' },
  { proof: 'open', codes: '97 98 99 475 504', means: 'timed out on the way to the issuer' },
  {
    proof: 'unproven',
    codes: '17 41 42 130 9016',
    means: 'state, or an existing void: an earlier try may be the reason'
  }
]

/** `Code` of an error body, with any HTTP status from 400 to 499. */
export const errorRows: readonly AnswerRow[] = [
  { proof: 'refused', codes: '1xx 2xx', means: 'validation of the request' },
  { proof: 'refused', codes: '300 301 306', means: 'merchant not found, blocked, or its address not allowed' },
  { proof: 'refused', codes: '303 307 318', means: 'no such sale' },
  { proof: 'refused', codes: '310 311 322 323 389', means: 'not enabled for this merchant' },
  { proof: 'refused', codes: '57', means: 'brand not accepted' },
  { proof: 'unproven', codes: '0', means: 'internal error' },
  { proof: 'unproven', codes: '302', means: 'duplicated order: there is a sale' },
  { proof: 'unproven', codes: '308 309 312', means: 'the state does not allow it: an earlier try may be the reason' }
]

/** HTTP status codes other than 2xx, when the body names no error. `xx`: all others of the class. */
export const httpRows: readonly AnswerRow[] = [
  { proof: 'open', codes: '408 425 429', means: 'a gateway answers instead of the acquirer' },
  { proof: 'unexplained', codes: '4xx', means: 'refused without a reason: a gateway may have answered' },
  { proof: 'open', codes: '1xx 3xx 5xx', means: 'no answer of the acquirer' }
]

/** The return code of a denied sale. */
export function proofOfDenial(code: string): Proof {
  return deniedSaleProofs(code) ?? 'refused'
}

/** The return code of a capture. */
export function proofOfCapture(code: string): Proof {
  return captureProofs(code) ?? 'unproven'
}

/** The return code of a void or refund. */
export function proofOfVoid(code: string): Proof {
  return voidProofs(code) ?? 'unproven'
}

/** The `Code` of an error body. */
export function proofOfError(code: string): Proof {
  return errorProofs(code) ?? 'unproven'
}

/** An HTTP status other than 2xx without an error code in its body. */
export function proofOfStatus(status: number): Proof {
  return httpProofs(String(status)) ?? 'open'
}

const deniedSaleProofs = lookup(deniedSaleRows)
const captureProofs = lookup(captureRows)
const voidProofs = lookup(voidRows)
const errorProofs = lookup(errorRows)
const httpProofs = lookup(httpRows)

/** The row of a code; a code of three digits may be meant by a class such as `1xx`, unless a row names it. */
function lookup(rows: readonly AnswerRow[]): (code: string) => Proof | undefined {
  const proofs = new Map(rows.flatMap(({ codes, proof }) => codes.split(' ').map(code => [code, proof] as const)))
  return code => {
    const plain = plainCode(code)
    return proofs.get(plain) ?? (/^\d{3}$/.test(plain) ? proofs.get(`${plain.charAt(0)}xx`) : undefined)
  }
}
