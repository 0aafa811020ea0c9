/** The requests of the frame to `tokens`, its own origin: check the key, and send the typed card. */
import { isRecord } from '../../../runtime/json.js'
import type { EnteredCard, FieldName, ProblemCode } from './card-rules.js'
import type { CvvToken, FieldsToken } from './fields-values.js'
import type { TokenizeFailure } from './texts.js'
import { digitsOf, readExpiry } from './typing.js'

/** The result for a card. `problems`: broken rules that the buyer can correct; `failure`: any other reason. */
export type Tokenization =
  | { readonly kind: 'token'; readonly token: FieldsToken | CvvToken }
  | { readonly kind: 'problems'; readonly problems: Readonly<Partial<Record<FieldName, ProblemCode>>> }
  | { readonly kind: 'failure'; readonly code: string; readonly text: TokenizeFailure }

const TIMEOUT_MS = 20_000
/** The fields are ready only after the check of the key, and a slow answer must not delay buyers. */
const KEY_TIMEOUT_MS = 3_000

/** The field of a path in the error envelope, and its problem when it passed the rules of the frame. */
const PATHS: Readonly<Record<string, readonly [FieldName, ProblemCode]>> = {
  card_number: ['number', 'number_wrong'],
  expiration_month: ['expiry', 'expiry_wrong'],
  expiration_year: ['expiry', 'expired'],
  cvv: ['cvv', 'cvv_needs_3'],
  holder_name: ['name', 'name_wrong']
}

/** The code with which `tokens` refuses the key; null when it accepts the key, or does not answer. Never rejects. */
export async function keyRefusal(publishableKey: string): Promise<string | null> {
  try {
    const response = await request('GET', '/v1/fields/key', { publishableKey, timeoutMs: KEY_TIMEOUT_MS })
    return response.status === 401 || response.status === 403 ? codeOf(errorIn(await response.json())) : null
  } catch {
    return null
  }
}

/** Never rejects. `card` has passed the rules of the form. */
export function tokenize(publishableKey: string, card: EnteredCard): Promise<Tokenization> {
  const expiry = readExpiry(card.expiry)
  const content = {
    card_number: digitsOf(card.number),
    holder_name: card.name.trim(),
    expiration_month: expiry?.month,
    expiration_year: expiry?.year,
    cvv: card.cvv
  }
  return send(publishableKey, content, readToken)
}

/** The same for the security code of a stored card. */
export function tokenizeCvv(publishableKey: string, { cvv }: EnteredCard): Promise<Tokenization> {
  return send(publishableKey, { cvv }, readCvvToken)
}

async function send(
  publishableKey: string,
  content: object,
  read: (body: unknown) => Tokenization
): Promise<Tokenization> {
  try {
    const response = await request('POST', '/v1/tokens', { publishableKey, timeoutMs: TIMEOUT_MS, content })
    const body: unknown = await response.json()
    return response.status === 201 ? read(body) : readRefusal(response.status, body)
  } catch {
    return { kind: 'failure', code: 'network_error', text: 'offline' }
  }
}

function request(
  method: string,
  path: string,
  { publishableKey, timeoutMs, content }: { publishableKey: string; timeoutMs: number; content?: object }
): Promise<Response> {
  return fetch(path, {
    method,
    headers: {
      Authorization: `Bearer ${publishableKey}`,
      ...(content !== undefined && { 'Content-Type': 'application/json' })
    },
    ...(content !== undefined && { body: JSON.stringify(content) }),
    credentials: 'omit',
    cache: 'no-store',
    signal: AbortSignal.timeout(timeoutMs)
  })
}

function readToken(body: unknown): Tokenization {
  const { token_id, brand, last4, expires_at } = isRecord(body) ? body : {}
  if (typeof token_id !== 'string' || typeof brand !== 'string') return refused('internal_error')
  if (typeof last4 !== 'string' || typeof expires_at !== 'string') return refused('internal_error')
  return { kind: 'token', token: { token_id, brand, last4, expires_at } }
}

function readCvvToken(body: unknown): Tokenization {
  const { token_id, expires_at } = isRecord(body) ? body : {}
  if (typeof token_id !== 'string' || typeof expires_at !== 'string') return refused('internal_error')
  return { kind: 'token', token: { token_id, expires_at } }
}

function readRefusal(status: number, body: unknown): Tokenization {
  const error = errorIn(body)
  const code = codeOf(error)
  if (status === 429) return { kind: 'failure', code, text: 'rate_limited' }
  const problems = problemsOf(code, Array.isArray(error['fields']) ? error['fields'] : [])
  return Object.keys(problems).length > 0 ? { kind: 'problems', problems } : refused(code)
}

function errorIn(body: unknown): Readonly<Record<string, unknown>> {
  return isRecord(body) && isRecord(body['error']) ? body['error'] : {}
}

function codeOf({ code }: Readonly<Record<string, unknown>>): string {
  return typeof code === 'string' ? code : 'internal_error'
}

function problemsOf(code: string, fields: readonly unknown[]): Partial<Record<FieldName, ProblemCode>> {
  const problems: Partial<Record<FieldName, ProblemCode>> = {}
  for (const field of fields) {
    const [name, problem] = (isRecord(field) && PATHS[String(field['path'])]) || []
    if (name === undefined || problem === undefined) continue
    // The frame has checked the check digit: `tokens` refuses the card itself.
    problems[name] = name === 'number' && code === 'invalid_card' ? 'not_a_test_card' : problem
  }
  return problems
}

function refused(code: string): Tokenization {
  return { kind: 'failure', code, text: 'refused' }
}
