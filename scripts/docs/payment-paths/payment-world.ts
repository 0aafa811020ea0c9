/**
 * A payment and the call that is in flight for it: what can really happen next, step by step, without any Redis.
 *
 * The machine takes an answer whenever one comes; here an answer comes only after the call that asked for it. Generated
 * paths and the inspector's what-if walk through this world.
 */
import type { Payment } from '../../../machines/model.js'
import { type Decision, decide } from '../../../machines/payment/decide.js'
import type { Effect, PaymentEvent } from '../../../machines/payment/events.js'
import { wakeAtMs } from '../../../machines/payment/wake-ups.js'
import { examplePayment, examplePolicy } from './example-payment.js'
import type { ExampleEvent } from './payment-examples.js'

export interface World {
  readonly payment: Payment
  /** The call to the network that has not been answered yet. */
  readonly inFlight: Effect | null
  /** When the last thing happened: most leave a line in the history, but not all. */
  readonly atMs: number
}

const STEP_MS = 1_000

/** A payment that was just accepted. */
export function firstWorld(captureMode: 'auto' | 'manual'): World {
  const payment = examplePayment(captureMode)
  return { payment, inFlight: null, atMs: payment.terms.createdAtMs }
}

/** What the event does; a refused one leaves the world as it is. */
export function happen(world: World, event: PaymentEvent): { readonly world: World; readonly decision: Decision } {
  const decision = decide(world.payment, event, examplePolicy)
  if (decision.kind === 'refused') return { world, decision }
  return { world: { payment: decision.payment, inFlight: decision.effect, atMs: event.nowMs }, decision }
}

/** A moment after the last thing that happened. */
export function nextMomentMs({ atMs }: World): number {
  return atMs + STEP_MS
}

/** What merchants, operators, timers and the network's notifications bring to a payment that was sent. */
const laterCommands: readonly PaymentEvent['type'][] = [
  'CAPTURE',
  'CANCEL',
  'EXPIRE',
  'RECONCILE',
  'NETWORK_NOTIFICATION',
  'REVIEW_RESOLVED',
  'OPERATION_CONCLUDED'
]

/** Whether this could come now, taken by the payment or not. */
export function isTimely({ type }: ExampleEvent, { payment, inFlight }: World): boolean {
  if (inFlight !== null) return answersTo[inFlight.kind].includes(type)
  if (type === 'AUTHORISE') return payment.version === 1
  if (type === 'RECONCILE') return isWakeUpQuery(payment)
  return payment.version > 1 && laterCommands.includes(type)
}

/** The wake-up of a hold fires at the end of its window, unless something was reported. */
function isWakeUpQuery({ progress }: Payment): boolean {
  return progress.status === 'pre_authorized' ? progress.verification !== null : wakeAtMs(progress) !== null
}

type EventType = PaymentEvent['type']

/** A worker may also die before the answer: RESUMED and POISONED. */
const answersToCall: readonly EventType[] = [
  'APPROVED',
  'DECLINED',
  'REJECTED',
  'NOT_SENT',
  'UNPROVEN',
  'AMBIGUOUS',
  'RESUMED',
  'POISONED'
]

const answersTo: Readonly<Record<Effect['kind'], readonly EventType[]>> = {
  authorise: [...answersToCall, 'CARD_MISSING', 'OVERDUE'],
  capture: answersToCall,
  void: answersToCall,
  refund: answersToCall,
  query: ['FOUND', 'ABSENT', 'NO_ANSWER', 'POISONED']
}
