/**
 * Receives the notifications of the card network about sales. A notification is a hint and proves nothing: it is stored and
 * answered, and a worker queries the network for the facts (docs/PAYMENTS.md, What the network reports).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type Koa from 'koa'
import type { FieldProblem } from '../../contract/errors.js'
import type { ReportedChange } from '../../machines/model.js'
import type { NetworkNotification, NotificationStore } from '../../redis/notifications/notifications.js'
import type { Clock } from '../../runtime/clock.js'
import { isRecord } from '../../runtime/json.js'
import type { Logger } from '../../runtime/log.js'
import { isUuid } from '../../runtime/uuid.js'
import { createJsonApp, routerOf } from '../http/api-app.js'
import type { RequestContext, RequestState } from '../http/context.js'
import { readJson } from '../http/middleware/json-body.js'
import type { Route } from '../http/route.js'
import { ServiceError } from '../http/service-error.js'
import { traceRequest } from '../http/trace-request.js'

/**
 * What the network reports with each `ChangeType`, by the acquirer's documents. Only these are about the money of a
 * payment of ours; the others (recurrence, antifraud, boleto) are answered and ignored.
 */
const MONEY_CHANGES: Readonly<Record<number, ReportedChange>> = {
  // status change
  1: 'change',
  // cancellation denied
  5: 'denied_refund',
  7: 'chargeback',
  // fraud alert of the issuer: no money has moved yet
  8: 'change',
  // partly cancelled
  25: 'change'
}

export interface NotificationsDeps {
  /** Value of `X-Notification-Secret`, the only proof of origin that the network offers. */
  readonly secret: string
  readonly notifications: Pick<NotificationStore, 'note'>
  readonly clock: Clock
  readonly log: Logger
}

/** Builds the application. Its one route answers 200 (the only status that counts as received) when the notification is durable. */
export function createNotificationsApp(deps: NotificationsDeps): Koa<RequestState> {
  return createJsonApp(deps.log, routerOf([notificationRoute(deps)]))
}

function notificationRoute(deps: NotificationsDeps): Route {
  const expected = digest(deps.secret)
  return {
    method: 'POST',
    path: '/notifications',
    async answer(ctx) {
      requireSecret(ctx, expected)
      traceRequest(ctx)
      await readJson(ctx, { isOptional: false })
      const notification = notificationIn(ctx.state.body)
      if (notification !== null) await deps.notifications.note(notification, deps.clock.now())
      return { status: 200, body: {} }
    }
  }
}

function requireSecret(ctx: RequestContext, expected: Buffer): void {
  // timingSafeEqual needs equal lengths; digests hide the length of the secret.
  if (!timingSafeEqual(digest(ctx.get('X-Notification-Secret')), expected)) {
    throw new ServiceError('unauthorized', {
      fields: [{ path: 'header X-Notification-Secret', message: 'must be the secret of the card network' }]
    })
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * Reads `{"PaymentId": "<sale id of the network>", "ChangeType": 7}`: what happened to which sale, or null when the notification is about something else.
 * Throws `invalid_request`.
 */
function notificationIn(body: unknown): NetworkNotification | null {
  const { PaymentId: saleId, ChangeType: changeType } = isRecord(body) ? body : {}
  const problems: FieldProblem[] = []
  if (typeof saleId !== 'string' || !isUuid(saleId)) {
    problems.push({ path: 'PaymentId', message: "must be the network's id of a sale, a UUID" })
  }
  if (!Number.isInteger(Number(changeType)) || changeType === '' || changeType === null) {
    problems.push({ path: 'ChangeType', message: 'must be a whole number' })
  }
  if (problems.length > 0 || typeof saleId !== 'string') throw new ServiceError('invalid_request', { fields: problems })
  const reported = MONEY_CHANGES[Number(changeType)]
  return reported === undefined ? null : { saleId: saleId.toLowerCase(), reported }
}
