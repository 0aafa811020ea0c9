/**
 * What the acquirer's codes mean to a call that moves money. Pure.
 *
 * Three groups: done, refused for certain, and everything else, which is reconciled. "Wrong state" is in the last group: an
 * earlier copy of this request may have caused that state. So is every code that is in no table: an unknown code proves
 * nothing. Why an issuer declined a sale: machines/declines.ts.
 */
import { plainCode } from '../../machines/declines.js'

export type CodeMeaning = 'done' | 'refused' | 'ask'

const CAPTURE_DONE = codes('0 4 6')
/** Bad credentials, sale not found, amount above the sale's, deadline passed. Asked about: 841 (state), 999. */
const CAPTURE_REFUSED = codes('2 3 842 843')

const VOID_DONE = codes('0 9')
/**
 * Not found (3 52 77 116), deadline (40 101), not permitted (53 100 120 121), data mismatch (58 60 160 209 215 217),
 * registration (103 104 105 106 108), no balance (43 55 56 72 76), over the amount (51 102 206 221), later (57 117),
 * definitive without a reason (54 477 576).
 * Asked about: state and existing cancellations (17 41 42 130 9016), in progress or timed out (5 10 98 223 475 476 504),
 * and 97 and 99, which other lists of the acquirer call a time-out.
 */
const VOID_REFUSED = codes(
  '3 52 77 116 40 101 53 100 120 121 58 60 160 209 215 217 103 104 105 106 108 43 55 56 72 76 51 102 206 221 57 117 54 477 576'
)

const VOID_TOO_LATE = codes('40 101')

/**
 * Error codes after which the sale may be booked: 0 internal error, 302 duplicated order (so there is a sale), 308, 309 and
 * 312 wrong state.
 */
const ERROR_ASK = codes('0 302 308 309 312')

/** Denials that are not final: sending or authorising failed, and the acquirer says to query first. */
const SALE_ASK = codes('BP900 BP901')

/** The return code of a capture. */
export function captureMeaning(code: string): CodeMeaning {
  return meaningIn(CAPTURE_DONE, CAPTURE_REFUSED, code)
}

/** The return code of a void or refund. */
export function voidMeaning(code: string): CodeMeaning {
  return meaningIn(VOID_DONE, VOID_REFUSED, code)
}

/** Whether a void was refused because it came too late: the hold has lapsed. */
export function isVoidTooLate(code: string): boolean {
  return VOID_TOO_LATE.has(plainCode(code))
}

/** The `Code` of an error body. */
export function errorMeaning(code: string): CodeMeaning {
  return ERROR_ASK.has(plainCode(code)) ? 'ask' : 'refused'
}

/** Whether the return code of a denied sale proves that it was denied. */
export function isFinalDenial(code: string): boolean {
  return !SALE_ASK.has(plainCode(code))
}

function meaningIn(done: ReadonlySet<string>, refused: ReadonlySet<string>, code: string): CodeMeaning {
  const plain = plainCode(code)
  if (done.has(plain)) return 'done'
  return refused.has(plain) ? 'refused' : 'ask'
}

function codes(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
