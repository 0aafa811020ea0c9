/** A route of the merchant API, and the checks that all routes begin with. */
import type { ErrorCode } from '../../contract/errors.js'
import type { AnswerOf, RouteFacts } from '../../contract/route.js'
import { isCardData } from '../../machines/card-data-in-text.js'
import type { Permission } from '../../redis/merchants/merchants.js'
import type { RateLimiter } from '../../redis/merchants/rate-limit.js'
import type { Clock } from '../../runtime/clock.js'
import type { Config } from '../../runtime/config.js'
import type { Cards } from '../cards/store-card.js'
import type { PaymentsPort } from '../payments/payments-port.js'
import type { TestEnvironment } from '../test-environment/test-environment.js'
import type { WebhookEndpoints } from '../webhook-endpoint/webhook-endpoints.js'
import type { Admission } from './admission.js'
import { type Authenticator, authenticate } from './authenticator.js'
import type { Answer, RequestContext } from './context.js'
import { readJson } from './middleware/json-body.js'
import { takeOfKey } from './middleware/rate-limit.js'
import { refuseParameters } from './query.js'
import { invalidRequest, ServiceError } from './service-error.js'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As the router writes it: `/v1/payments/:id`. */
  readonly path: string
  answer(ctx: RequestContext): Answer | Promise<Answer>
}

/** A route of the merchant API: what merchants may know of it, and what answers it. */
export interface MerchantRoute {
  readonly facts: RouteFacts
  readonly permission: Permission
  answer(deps: RouteDeps): Route['answer']
}

type AnswerTo<Facts extends RouteFacts> = AnswerOf<Facts> & Pick<Answer, 'headers'>

/** A route that answers what its facts say. */
export function merchantRoute<Facts extends RouteFacts & { readonly permission: Permission }>(
  facts: Facts,
  answer: (deps: RouteDeps) => (ctx: RequestContext) => AnswerTo<Facts> | Promise<AnswerTo<Facts>>
): MerchantRoute {
  return { facts, permission: facts.permission, answer }
}

/** What the routes work with. */
export interface RouteDeps {
  readonly config: Config
  readonly clock: Clock
  readonly authenticator: Authenticator
  /** Bounds what the process works on at the same time. */
  readonly admission: Admission
  /** Null: no limit. */
  readonly rateLimiter: RateLimiter | null
  /** Rejects while the data may lack something of a merchant. */
  assertWhole(merchantId: string): Promise<void>
  readonly payments: PaymentsPort
  readonly cards: Cards
  readonly webhookEndpoints: WebhookEndpoints
  /** Not used in live, which has no routes for it. */
  readonly testEnvironment: TestEnvironment
}

/** The route for the router. Authentication, admission and rate limit come before everything else. */
export function routeOf(route: MerchantRoute, deps: RouteDeps): Route {
  const { method, path, body, query, exampleKey } = route.facts
  const { authenticator, admission, rateLimiter } = deps
  const answer = route.answer(deps)
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, ':$1'),
    async answer(ctx) {
      const { merchantId } = await authenticate(ctx, authenticator, route.permission)
      return await admission.admit(merchantId, async () => {
        if (rateLimiter !== null) await takeOfKey(ctx, rateLimiter)
        if (query === undefined) refuseParameters(ctx.querystring)
        if (exampleKey !== undefined) readIdempotencyKey(ctx)
        if (body !== undefined) await readJson(ctx, body)
        return await proving(
          async () => await answer(ctx),
          () => deps.assertWhole(merchantId)
        )
      })
    }
  }
}

/** What is said of something that is not in the data. */
const ABSENCES: readonly ErrorCode[] = ['not_found', 'unknown_card']

/** Says that something does not exist only of data that is whole: a merchant may pay for it anew. */
async function proving<T>(answer: () => Promise<T>, assertWhole: () => Promise<void>): Promise<T> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof ServiceError && ABSENCES.includes(error.code)) await assertWhole()
    throw error
  }
}

const KEY_HEADER = 'idempotency-key'
const PRINTABLE = /^[\x20-\x7e]{1,255}$/

/**
 * Leaves the key in `ctx.state.idempotencyKey`: 1 to 255 printable ASCII characters, and no card number (decision 22), because
 * it is stored with the operation and shown in answers and webhooks. Throws `missing_idempotency_key`, or `invalid_request`.
 */
function readIdempotencyKey(ctx: RequestContext): void {
  const key = ctx.get(KEY_HEADER)
  if (key === '') throw new ServiceError('missing_idempotency_key')
  if (!PRINTABLE.test(key) || isSentTwice(ctx.req.rawHeaders)) {
    throw invalidRequest('header Idempotency-Key', 'must be sent once, with 1 to 255 printable ASCII characters')
  }
  if (isCardData(key)) {
    throw invalidRequest('header Idempotency-Key', 'must not be just a card number; put a letter before it')
  }
  ctx.state.idempotencyKey = key
}

/** Node joins repeated headers with a comma, which a key may contain. `headers`: names and values alternate. */
function isSentTwice(headers: readonly string[]): boolean {
  const isName = (text: string, at: number): boolean => at % 2 === 0 && text.toLowerCase() === KEY_HEADER
  return headers.filter(isName).length > 1
}
