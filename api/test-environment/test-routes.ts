/** The routes of the test environment (docs/TESTING.md). In live they do not exist: 404 like any unknown path. */
import { presentStored } from '../../contract/payment.js'
import { LIST_LIMIT_DEFAULT } from '../../contract/request-fields.js'
import type { AnswerOf } from '../../contract/route.js'
import { routes } from '../../contract/routes.js'
import { listEventsQuery, presentLoggedEvent } from '../../contract/webhook-event.js'
import { isOpen, type Payment, placeOf } from '../../machines/model.js'
import { delay } from '../../runtime/delay.js'
import { isUuid } from '../../runtime/uuid.js'
import { clientSignal } from '../http/client-signal.js'
import { principalOf, type RequestContext } from '../http/context.js'
import { RETRY_AFTER_S } from '../http/middleware/error-envelope.js'
import { parametersOf } from '../http/query.js'
import { type MerchantRoute, merchantRoute, type RouteDeps } from '../http/route.js'
import { parserOf } from '../http/schema.js'
import { ServiceError } from '../http/service-error.js'
import { paymentIdInPath, preferredWaitS } from '../payments/request-scope.js'

const POLL_MS = 25

/** The statuses in which an action is allowed, and the place that ends it: `<status>` or `<status>.<phase>`. */
interface PaymentAction {
  readonly action: 'chargeBack' | 'expire'
  readonly from: readonly string[]
  readonly done: string
}

const CHARGEBACK: PaymentAction = {
  action: 'chargeBack',
  from: ['captured', 'partially_refunded', 'refunded'],
  done: 'charged_back'
}
const EXPIRY: PaymentAction = { action: 'expire', from: ['pre_authorized'], done: 'expired.released' }

/**
 * Answers a payment that is already changed unchanged, and 202 when the change takes longer than the wait. Refuses one that
 * can't change, also when that shows meanwhile: a capture may win.
 */
async function changePayment(
  deps: RouteDeps,
  ctx: RequestContext,
  { action, from, done }: PaymentAction
): Promise<AnswerOf<typeof routes.expireTestPayment> & { headers?: Record<string, string> }> {
  const waitS = preferredWaitS(ctx)
  const deadlineMs = performance.now() + (waitS === null ? deps.config.resultWaitMs : waitS * 1_000)
  const isDone = ({ progress }: Payment): boolean => placeOf(progress) === done
  const signal = clientSignal(ctx)
  const refuseUnlessPossible = ({ terms, progress: { status, operation } }: Payment, isBusy: boolean): void => {
    if (from.includes(status) || done.startsWith(status) || (isBusy && isOpen(operation))) return
    throw new ServiceError(isOpen(operation) ? 'operation_in_progress' : 'invalid_state', { paymentId: terms.id })
  }
  let payment = await paymentOf(deps, ctx)
  refuseUnlessPossible(payment, false)
  if (from.includes(payment.progress.status)) await deps.testEnvironment[action](payment)
  while (!isDone(payment) && performance.now() < deadlineMs) {
    await delay(POLL_MS, signal)
    signal.throwIfAborted()
    payment = await paymentOf(deps, ctx)
    refuseUnlessPossible(payment, true)
  }
  const body = presentStored(payment, deps.config.environment)
  return isDone(payment)
    ? { status: 200, body }
    : { status: 202, body, headers: { 'Retry-After': String(RETRY_AFTER_S) } }
}

async function paymentOf({ payments }: RouteDeps, ctx: RequestContext): Promise<Payment> {
  const payment = await payments.read(principalOf(ctx).merchantId, paymentIdInPath(ctx))
  if (payment === null) throw new ServiceError('not_found')
  return payment
}

const sendEventRoute = merchantRoute(routes.sendTestWebhookEvent, deps => async ctx => {
  const { merchantId } = principalOf(ctx)
  if ((await deps.webhookEndpoints.find(merchantId)) === null) throw new ServiceError('webhook_endpoint_missing')
  return { status: 201, body: presentLoggedEvent(await deps.testEnvironment.sendEvent(merchantId)) }
})

const parseList = parserOf(listEventsQuery, 'query')

const listEventsRoute = merchantRoute(routes.listTestWebhookEvents, deps => async ctx => {
  const { limit = LIST_LIMIT_DEFAULT } = parseList(parametersOf(ctx.querystring))
  const events = await deps.testEnvironment.listEvents(principalOf(ctx).merchantId, Number(limit))
  return { status: 200, body: { items: events.map(presentLoggedEvent) } }
})

const replayEventRoute = merchantRoute(routes.replayTestWebhookEvent, deps => async ctx => {
  const id: string = ctx['params'].id
  const event = isUuid(id)
    ? await deps.testEnvironment.replayEvent(principalOf(ctx).merchantId, id.toLowerCase(), clientSignal(ctx))
    : null
  if (event === null) throw new ServiceError('not_found')
  return { status: 200, body: presentLoggedEvent(event) }
})

export const testRoutes: readonly MerchantRoute[] = [
  merchantRoute(routes.chargeBackTestPayment, deps => ctx => changePayment(deps, ctx, CHARGEBACK)),
  merchantRoute(routes.expireTestPayment, deps => ctx => changePayment(deps, ctx, EXPIRY)),
  sendEventRoute,
  listEventsRoute,
  replayEventRoute
]
