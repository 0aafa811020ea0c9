/** One-use tokens for automated tests of a merchant's server, where no buyer types a card. */
import { below, checkedAddress } from './address.js'
import { bodyText } from './body-text.js'
import { ApiError, NoAnswerError } from './errors.js'
import { exchange } from './exchange.js'
import type { CreateTokenRequest } from './request-types.js'
import type { Token } from './test-types.js'
import { errorOf } from './verdict.js'

/** An approved card of the test environment; docs/API.md of the service lists all of them. */
export const approvedTestCard: Required<CreateTokenRequest> = {
  card_number: '4024007153760060',
  holder_name: 'Ada Lovelace',
  expiration_month: '12',
  expiration_year: '2099',
  cvv: '123'
}

interface TokensAddress {
  /** `tokenization.url` of the capabilities. */
  readonly tokensUrl: string
  /** `svc_test.…`. Others are refused: live card numbers enter the hosted fields, never a server of a merchant. */
  readonly publishableKey: string
  readonly fetch?: typeof fetch
}

export interface TestTokenOptions extends TokensAddress {
  /** What differs from an approved card, such as its number. */
  readonly card?: Partial<CreateTokenRequest>
}

export interface TestCvvTokenOptions extends TokensAddress {
  readonly cvv?: string
}

/** Turns a published test card into a one-use token. Rejects with `ApiError` or `NoAnswerError`; tries once. */
export async function createTestToken({ card, ...address }: TestTokenOptions): Promise<Token> {
  return create(address, { ...approvedTestCard, ...card })
}

/** A one-use token of a security code: the `cvv_token_id` of a payment with a stored card. Rejects as `createTestToken`. */
export async function createTestCvvToken({ cvv = '123', ...address }: TestCvvTokenOptions): Promise<Token> {
  return create(address, { cvv })
}

async function create(
  { tokensUrl, publishableKey, fetch = globalThis.fetch }: TokensAddress,
  request: CreateTokenRequest
): Promise<Token> {
  if (!/^svc_test\.[!--/-~]+$/.test(publishableKey)) {
    throw new TypeError('`publishableKey` must be a publishable key of the test environment: svc_test and the key id.')
  }
  const headers = { Authorization: `Bearer ${publishableKey}`, 'Content-Type': 'application/json' }
  const body = bodyText({ ...request })
  const url = below(checkedAddress('tokensUrl', tokensUrl), '/v1/tokens')
  const answer = await exchange({ url, method: 'POST', headers, body }, { fetch, timeoutMs: 16_000, signal: undefined })
  if (answer instanceof NoAnswerError) throw answer
  if (answer.status < 400) return answer.body as Token
  throw new ApiError(answer.status, errorOf(answer))
}
