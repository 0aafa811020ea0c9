/** A scratch webhook event, stepped by hand through its attempts. */
import {
  type Delivery,
  type DeliveryEvent,
  decideDelivery,
  type EndpointNow,
  newDelivery
} from '../../../machines/webhook-delivery.js'
import { spanMs, standardRetries } from '../../../machines/webhook-schedule.js'
import { plain } from '../history.js'
import type { Choice, HistoryLine, WhatIf } from '../view-model.js'

export const webhookBeginnings = ['a new event'] as const

interface Example {
  readonly id: string
  readonly label: string
  event(delivery: Delivery, nowMs: number): DeliveryEvent
}

const BEGIN_MS = Date.UTC(2026, 0, 5, 12)
const STEP_MS = 1_000
/** The endpoint of the example has never worked. */
const endpointAt = (nowMs: number): EndpointNow => ({ nowMs, failingSinceMs: BEGIN_MS })
/** In the middle of the jitter. */
const NO_JITTER = 0.5

const examples: readonly Example[] = [
  { id: 'SEND', label: 'its turn has come', event: () => ({ type: 'SEND' }) },
  { id: 'ANSWERED/200', label: 'answered 200', event: answered(200, null) },
  { id: 'ANSWERED/500', label: 'answered 500', event: answered(500, null) },
  { id: 'ANSWERED/429', label: 'answered 429, Retry-After one hour', event: answered(429, 3_600_000) },
  { id: 'ANSWERED/410', label: 'answered 410', event: answered(410, null) },
  {
    id: 'NO_ANSWER',
    label: 'no answer',
    event: (_, nowMs) => ({ type: 'NO_ANSWER', ...endpointAt(nowMs), random: NO_JITTER })
  },
  {
    id: 'OVERDUE',
    label: 'down for the whole span',
    event: ({ sinceMs }) => ({ type: 'OVERDUE', ...endpointAt(sinceMs + spanMs(standardRetries) + 1) })
  }
]

/** Throws for a step that is no example event. */
export function whatIfWebhook(steps: readonly string[]): WhatIf {
  let delivery = newDelivery(BEGIN_MS)
  let nowMs = BEGIN_MS
  const lines: HistoryLine[] = [{ ...plain(BEGIN_MS, 'the status has changed', delivery.state), from: '' }]
  for (const id of steps) {
    const example = examples.find(candidate => candidate.id === id)
    if (example === undefined) throw new Error(`There is no example event ${JSON.stringify(id)}.`)
    nowMs = Math.max(nowMs + STEP_MS, delivery.nextAtMs)
    const event = example.event(delivery, nowMs)
    const next = deliveryAfter(delivery, event)
    const line = { ...plain('nowMs' in event ? event.nowMs : nowMs, event.type, delivery.state) }
    if (next === null) lines.push({ ...line, refusal: 'not accepted in this state' })
    else {
      lines.push({ ...line, to: next.state, detail: detailOf(event, next), effect: effectOf(event) })
      delivery = next
    }
    nowMs = line.atMs
  }
  return { place: delivery.state, lines, choices: examples.map(example => choiceOf(example, delivery, nowMs)) }
}

function answered(status: number, retryAfterMs: number | null): Example['event'] {
  return (_, nowMs) => ({ type: 'ANSWERED', status, retryAfterMs, ...endpointAt(nowMs), random: NO_JITTER })
}

function choiceOf(example: Example, delivery: Delivery, nowMs: number): Choice {
  const event = example.event(delivery, Math.max(nowMs + STEP_MS, delivery.nextAtMs))
  const next = deliveryAfter(delivery, event)
  return {
    id: example.id,
    label: example.label,
    isTimely: next !== null,
    next: next?.state ?? null,
    effect: next === null ? null : effectOf(event),
    refusal: next === null ? 'not accepted in this state' : null
  }
}

/** Null: the state does not accept the event. */
function deliveryAfter(delivery: Delivery, event: DeliveryEvent): Delivery | null {
  try {
    return decideDelivery(delivery, event, standardRetries)
  } catch {
    return null
  }
}

function detailOf(event: DeliveryEvent, { state, attempts, nextAtMs }: Delivery): string | null {
  const status = event.type === 'ANSWERED' ? `status ${event.status}` : null
  const again =
    state === 'waiting' && 'nowMs' in event ? `again in ${Math.round((nextAtMs - event.nowMs) / 1_000)} s` : null
  const attempt = event.type === 'SEND' ? `attempt ${attempts}` : null
  return [status, attempt, again].filter(Boolean).join(', ') || null
}

function effectOf(event: DeliveryEvent): string | null {
  return event.type === 'SEND' ? 'post' : null
}
