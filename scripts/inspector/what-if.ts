/** Steps a machine by hand with example events. Needs no Redis: the steps so far are all the state. */
import { isRecord } from '../../runtime/json.js'
import type { WhatIf } from './view-model.js'
import { paymentBeginnings, whatIfPayment } from './what-if/payment.js'

interface Walk {
  readonly beginnings: readonly string[]
  /** `steps`: ids of example events, in order. */
  walk(beginning: string, steps: readonly string[]): WhatIf
}

const STEPS_MAX = 100

const walks = new Map<unknown, Walk>([['payment', { beginnings: paymentBeginnings, walk: whatIfPayment }]])

/** How a what-if of this machine may begin; empty when the machine has no example events. */
export function beginningsOf(machine: string): readonly string[] {
  return walks.get(machine)?.beginnings ?? []
}

/** Takes the steps that the page sent: where they lead, and what may follow. Throws with a sentence about what is wrong. */
export function whatIf(request: unknown): WhatIf {
  const { machine, beginning, steps } = isRecord(request) ? request : {}
  const found = walks.get(machine)
  if (found === undefined || typeof beginning !== 'string' || !found.beginnings.includes(beginning)) {
    throw new Error('A what-if names a machine and one of its beginnings.')
  }
  if (!Array.isArray(steps) || steps.length > STEPS_MAX || !steps.every(step => typeof step === 'string')) {
    throw new Error(`The steps of a what-if are at most ${STEPS_MAX} ids of example events.`)
  }
  return found.walk(beginning, steps)
}
