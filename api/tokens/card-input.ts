/**
 * The rules of a typed card. All broken ones are reported at once, so that a form can mark every field.
 *
 * Messages never repeat a value: any wrong field may hold a card number.
 */
import type { FieldProblem } from '../../contract/errors.js'
import { type TokenField, tokenFields } from '../../contract/token.js'
import {
  brandOf,
  type CardBrand,
  isExpired,
  isLuhnValid,
  lengthsOf,
  mayHoldNumber
} from '../../machines/card-brands.js'
import type { Environment } from '../../machines/model.js'
import { isTestCard } from '../../machines/test-cards.js'
import { isRecord } from '../../runtime/json.js'
import { invalidRequest, ServiceError } from '../http/service-error.js'

/** What may become a token: a card, or the CVV of a stored one. */
export type TokenInput =
  | { readonly kind: 'card'; readonly card: CardInput }
  | { readonly kind: 'cvv'; readonly cvv: string }

/** A card that may become a token. */
export interface CardInput {
  readonly number: string
  readonly brand: CardBrand
  readonly holderName: string
  /** "01".."12" */
  readonly expirationMonth: string
  /** "YYYY" */
  readonly expirationYear: string
  readonly cvv: string
}

export interface CardRules {
  /** The test environment takes published test cards only, so that a real card typed by mistake is never kept. */
  readonly environment: Environment
  readonly nowMs: number
}

/** A rule of one field: the sentence to show when it is broken, else `undefined`. */
type Rule = (value: string) => string | undefined

const HOLDER_LENGTH_MAX = tokenFields.holder_name.maxLength
const WRONG_CHECK_DIGIT = 'is not a card number: its check digit is wrong'

const formOfNumber = ruleOf('card_number', 'must be 12 to 19 digits, without spaces')

const rules = {
  card_number: value => formOfNumber(value) ?? (isLuhnValid(value) ? undefined : WRONG_CHECK_DIGIT),
  holder_name: holderProblem,
  expiration_month: ruleOf('expiration_month', 'must be "01" to "12"'),
  expiration_year: ruleOf('expiration_year', 'must be four digits'),
  cvv: ruleOf('cvv', 'must be 3 or 4 digits')
} as const satisfies Readonly<Record<TokenField, Rule>>

/** The pattern that the documents show. */
function ruleOf(field: Exclude<TokenField, 'holder_name'>, sentence: string): Rule {
  const pattern = new RegExp(tokenFields[field].pattern)
  return value => (pattern.test(value) ? undefined : sentence)
}

const FIELDS = Object.keys(rules) as TokenField[]

/** Checks the body of POST /v1/tokens: with no field set but `cvv` it is about a stored card. Throws as `readCardInput` does. */
export function readTokenInput(body: unknown, cardRules: CardRules): TokenInput {
  if (!isRecord(body) || !('cvv' in body) || FIELDS.some(field => field !== 'cvv' && (body[field] ?? null) !== null))
    return { kind: 'card', card: readCardInput(body, cardRules) }
  const problems = [...unknownFields(body), ...problemsIn(['cvv'], body)]
  if (problems.length > 0) throw new ServiceError('invalid_request', { fields: problems })
  return { kind: 'cvv', cvv: String(body['cvv']) }
}

/**
 * Checks a card. Throws `ServiceError`: `invalid_request` when the request is malformed or the card
 * is expired; `invalid_card` when only the number is at fault, and is no card that this environment takes.
 */
export function readCardInput(body: unknown, { environment, nowMs }: CardRules): CardInput {
  if (!isRecord(body)) throw invalidRequest('body', 'must be a JSON object')
  const values: Partial<Record<string, unknown>> = { ...body }
  const problems = [...unknownFields(values), ...problemsIn(FIELDS, values), ...expiryProblems(values, nowMs)]
  if (problems.length > 0) throw new ServiceError(codeOf(problems), { fields: problems })

  const text = (field: TokenField): string => String(values[field])
  const number = text('card_number')
  const brand = brandOf(number)
  if (brand === null) throw refusedNumber('is of a brand that is not accepted')
  const lengths = lengthsOf(brand)
  if (!lengths.includes(number.length)) {
    throw refusedNumber(`is not a card number: those of ${brand} have ${lengths.join(' or ')} digits`)
  }
  if (environment === 'test' && !isTestCard(number)) throw refusedNumber('is not one of the published test cards')
  return {
    number,
    brand,
    holderName: text('holder_name').trim(),
    expirationMonth: text('expiration_month'),
    expirationYear: text('expiration_year'),
    cvv: text('cvv')
  }
}

function unknownFields(values: object): FieldProblem[] {
  const unknown = Object.keys(values).filter(name => !FIELDS.some(field => field === name))
  // Other names are hidden: they may be what the buyer typed.
  return unknown.map(name => ({
    path: /^[a-z_]{1,40}$/i.test(name) ? name : 'body',
    message: 'is not a property of this request'
  }))
}

function problemsIn(fields: readonly TokenField[], values: Partial<Record<string, unknown>>): FieldProblem[] {
  return fields.flatMap(path => {
    const value = values[path]
    const message = typeof value === 'string' ? rules[path](value) : missingOrMistyped(value)
    return message === undefined ? [] : [{ path, message }]
  })
}

function missingOrMistyped(value: unknown): string {
  return value === undefined ? 'is required' : 'must be a string, in quotes'
}

function holderProblem(value: string): string | undefined {
  const length = [...value.trim()].length
  if (length < 1 || length > HOLDER_LENGTH_MAX) return `must have 1 to ${HOLDER_LENGTH_MAX} characters`
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value)) return 'must not contain control characters'
  // The name is stored in the clear: it must not be a number that was typed into the wrong field.
  return mayHoldNumber(value) ? 'must be a name, not a number' : undefined
}

function expiryProblems(values: Partial<Record<string, unknown>>, nowMs: number): FieldProblem[] {
  const { expiration_month: month, expiration_year: year } = values
  if (typeof month !== 'string' || typeof year !== 'string') return []
  if (rules.expiration_month(month) !== undefined || rules.expiration_year(year) !== undefined) return []
  return isExpired(year, month, nowMs) ? [{ path: 'expiration_year', message: 'the card is expired' }] : []
}

function codeOf(problems: readonly FieldProblem[]): 'invalid_card' | 'invalid_request' {
  return problems.every(({ message }) => message === WRONG_CHECK_DIGIT) ? 'invalid_card' : 'invalid_request'
}

function refusedNumber(message: string): ServiceError {
  return new ServiceError('invalid_card', { fields: [{ path: 'card_number', message }] })
}
