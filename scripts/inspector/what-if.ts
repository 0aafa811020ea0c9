/** Stepping a machine by hand: example events, no Redis. The way so far is all the state there is. */
import type { WhatIf } from './view-model.js'
import { paymentBeginnings, whatIfPayment } from './what-if/payment.js'
import { webhookBeginnings, whatIfWebhook } from './what-if/webhook.js'

export interface WhatIfRequest {
  readonly machine: string
  /** One of the machine's beginnings. */
  readonly beginning: string
  /** Ids of example events, in order. */
  readonly steps: readonly string[]
}

const STEPS_MAX = 100

const walks: Readonly<
  Record<string, { readonly beginnings: readonly string[]; walk(request: WhatIfRequest): WhatIf }>
> = {
  payment: { beginnings: paymentBeginnings, walk: ({ beginning, steps }) => whatIfPayment(beginning, steps) },
  webhook: { beginnings: webhookBeginnings, walk: ({ steps }) => whatIfWebhook(steps) }
}

/** How a what-if of this machine may begin; empty when the machine has no example events. */
export function beginningsOf(machine: string): readonly string[] {
  return walks[machine]?.beginnings ?? []
}

/** Checks what the page sent. Throws with a sentence that says what is wrong. */
export function parseWhatIf(value: unknown): WhatIfRequest {
  if (typeof value !== 'object' || value === null) throw new Error('A what-if is an object.')
  const { machine, beginning, steps } = value as Record<string, unknown>
  if (typeof machine !== 'string' || typeof beginning !== 'string' || !beginningsOf(machine).includes(beginning)) {
    throw new Error('A what-if names a machine and one of its beginnings.')
  }
  if (!Array.isArray(steps) || steps.length > STEPS_MAX || !steps.every(step => typeof step === 'string')) {
    throw new Error(`The steps of a what-if are at most ${STEPS_MAX} ids of example events.`)
  }
  return { machine, beginning, steps }
}

/** Walks the way from its beginning, and says where it leads and what may follow. */
export function whatIf(request: WhatIfRequest): WhatIf {
  const way = walks[request.machine]
  if (way === undefined) throw new Error(`There is no what-if for the machine ${request.machine}.`)
  return way.walk(request)
}
