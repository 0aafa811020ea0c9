/**
 * Where the card network reports what happened to a sale. A notification is a hint and proves nothing: it is written
 * down, answered, and a worker asks the network what is true (docs/PAYMENTS.md, What the
 * network reports).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type Koa from 'koa'
import type { NotificationStore } from '../../redis/notifications/notifications.js'
import type { Clock } from '../../runtime/clock.js'
import { ServiceError } from '../../runtime/errors.js'
import type { Logger } from '../../runtime/log.js'
import { createJsonApp, routerOf } from '../http/api-app.js'
import type { RequestContext, RequestState } from '../http/context.js'
import { readJson } from '../http/middleware/json-body.js'
import type { Route } from '../http/route.js'
import { notificationIn } from './notification-input.js'

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
      await readJson(ctx, { isOptional: false })
      const notification = notificationIn(ctx.state.body)
      if (notification !== null) await deps.notifications.note(notification, deps.clock.now())
      return { status: 200, body: {} }
    }
  }
}

function requireSecret(ctx: RequestContext, expected: Buffer): void {
  // Digests have one length, which timingSafeEqual asks for, and tell nothing about the length of the secret.
  if (!timingSafeEqual(digest(ctx.get('X-Notification-Secret')), expected)) {
    throw new ServiceError('unauthorized', {
      fields: [{ path: 'header X-Notification-Secret', message: 'must be the secret of the card network' }]
    })
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
