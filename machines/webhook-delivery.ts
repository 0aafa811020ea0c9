/**
 * The life of one webhook event, as a statechart: it waits, it is sent, and it is delivered or given up.
 *
 * Pure: the worker sends and reports the outcome. Time and random numbers come with the events.
 */
import { assign, setup } from 'xstate'
import { pureStepOf } from './pure-transition.js'
import { type RetryPolicy, retryDelayMs, spanMs } from './webhook-schedule.js'

export type DeliveryState = 'waiting' | 'sending' | 'delivered' | 'undeliverable'

/** What is known of a delivery besides the event itself. Times in ms since the epoch. */
export interface Delivery {
  readonly state: DeliveryState
  readonly attempts: number
  /** When it was created or replayed. */
  readonly sinceMs: number
  /** Not before this time. */
  readonly nextAtMs: number
}

export type DeliveryEvent =
  | { readonly type: 'SEND' }
  | ({
      readonly type: 'ANSWERED'
      readonly status: number
      readonly retryAfterMs: number | null
      readonly random: number
    } & EndpointNow)
  /** Refused, cut, too slow, untrusted, or a target that must not be called. */
  | ({ readonly type: 'NO_ANSWER'; readonly random: number } & EndpointNow)
  /** It was not sent in time: the endpoint was down for the whole span. */
  | ({ readonly type: 'OVERDUE' } & EndpointNow)

export interface EndpointNow {
  readonly nowMs: number
  /** Since when every attempt at the endpoint has failed, with any event; null: the last one succeeded. */
  readonly failingSinceMs: number | null
}

interface DeliveryContext {
  readonly attempts: number
  readonly sinceMs: number
  readonly nextAtMs: number
  readonly policy: RetryPolicy
}

const HTTP_GONE = 410

const deliverySetup = setup({
  types: { context: {} as DeliveryContext, events: {} as DeliveryEvent, input: {} as DeliveryContext },
  guards: {
    isAccepted: ({ event }) => event.type === 'ANSWERED' && event.status >= 200 && event.status <= 299,
    isGone: ({ event }) => event.type === 'ANSWERED' && event.status === HTTP_GONE,
    isLastAttempt: ({ context, event }) =>
      context.attempts > context.policy.delaysMs.length || ('nowMs' in event && isOverdue(context, event)),
    isOverdue: ({ context, event }) => 'nowMs' in event && isOverdue(context, event)
  },
  actions: {
    countAttempt: assign(({ context }) => ({ attempts: context.attempts + 1 })),
    scheduleRetry: assign(({ context, event }) => {
      if (event.type !== 'ANSWERED' && event.type !== 'NO_ANSWER') return {}
      const retryAfterMs = event.type === 'ANSWERED' ? event.retryAfterMs : null
      const delayMs = retryDelayMs(context.policy, context.attempts, retryAfterMs, event.random) ?? 0
      return { nextAtMs: event.nowMs + delayMs }
    })
  }
})

export const webhookDeliveryMachine = deliverySetup.createMachine({
  id: 'webhook',
  description: 'The delivery of one webhook event.',
  context: ({ input }) => input,
  initial: 'waiting',
  states: {
    waiting: {
      description: 'In line: behind earlier events of its payment, or until its next attempt is due.',
      on: {
        SEND: { target: 'sending', actions: 'countAttempt', description: 'Signed anew and posted.' },
        OVERDUE: {
          guard: 'isOverdue',
          target: 'undeliverable',
          description: 'The endpoint was down for the whole span of the retries.'
        }
      }
    },
    sending: {
      description: 'Posted; the answer is awaited for at most 10 s.',
      on: {
        ANSWERED: [
          { guard: 'isAccepted', target: 'delivered', description: 'Any 2xx.' },
          { guard: 'isGone', target: 'undeliverable', description: '410: the receiver no longer wants it.' },
          { guard: 'isLastAttempt', target: 'undeliverable', description: 'Refused for the last time.' },
          { target: 'waiting', actions: 'scheduleRetry', description: 'Any other status: again later.' }
        ],
        NO_ANSWER: [
          { guard: 'isLastAttempt', target: 'undeliverable', description: 'Unreachable for the last time.' },
          { target: 'waiting', actions: 'scheduleRetry', description: 'Unreachable: again later.' }
        ]
      }
    },
    delivered: { type: 'final', description: 'The receiver has it.' },
    undeliverable: { type: 'final', description: 'Given up and listed; a replay begins a new delivery.' }
  }
})

const takeStep = pureStepOf(webhookDeliveryMachine)

/** The delivery of a new event. */
export function newDelivery(nowMs: number): Delivery {
  return { state: 'waiting', attempts: 0, sinceMs: nowMs, nextAtMs: nowMs }
}

/** The delivery after an event. Throws when its state does not take the event: a bug of the worker. */
export function decideDelivery(delivery: Delivery, event: DeliveryEvent, policy: RetryPolicy): Delivery {
  const { state, ...figures } = delivery
  const snapshot = webhookDeliveryMachine.resolveState({ value: state, context: { ...figures, policy } })
  const step = takeStep(snapshot, event)
  if (step === null) throw new Error(`A webhook delivery that is ${state} does not take ${event.type}.`)
  const { attempts, sinceMs, nextAtMs } = step.next.context
  return { state: step.next.value, attempts, sinceMs, nextAtMs }
}

/**
 * After this time (ms) an event is given up before its last attempt: it is older than all attempts may take, and every
 * attempt at its endpoint failed for as long. A slow endpoint, or one after a shorter outage, loses no event.
 */
export function overdueAtMs(
  { sinceMs }: Pick<Delivery, 'sinceMs'>,
  failingSinceMs: number,
  policy: RetryPolicy
): number {
  return Math.max(sinceMs, failingSinceMs) + spanMs(policy)
}

function isOverdue(context: DeliveryContext, { nowMs, failingSinceMs }: EndpointNow): boolean {
  return failingSinceMs !== null && nowMs > overdueAtMs(context, failingSinceMs, context.policy)
}
