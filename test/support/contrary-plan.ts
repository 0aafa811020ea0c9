/** What becomes of one call to the contrary acquirer: what is booked of it, what is answered, and what its record shows. */
import type { ContrarySale, WireAnswer, WireRecord } from './contrary-wire.js'

export type Verb = 'sale' | 'capture' | 'void'
export type Choices<T> = readonly [T, ...T[]]

/** Chance that can be repeated. */
export interface Dice {
  chance(probability: number): boolean
  pick<T>(choices: Choices<T>): T
  between(min: number, max: number): number
}

export interface Asked {
  readonly verb: Verb
  readonly sale: ContrarySale
  /** What an honest acquirer would book. */
  readonly cents: number
  readonly askedCents: number
  readonly dice: Dice
}

export interface Plan {
  /** What is booked; 0: nothing. */
  readonly cents: number
  /** So much later; 0: before the answer. Of a capture or void. */
  readonly bookedAfterMs: number
  /** A sale of which nothing is approved is known all the same, in this status; null: it is not known. */
  readonly unapprovedStatus: number | null
  /** A sale is approved in the end, all that was asked, so much later. */
  readonly finallyMs: number | null
  readonly isTwice: boolean
  /** Whether the sale is captured at once; null: as asked. */
  readonly isCharged: boolean | null
  readonly currency: string
  /** How this is other than what was asked; null: it is not. */
  readonly deviation: string | null
  /** Whether the answer says so. */
  readonly isTold: boolean
  readonly isLost: boolean
  /** Instead of the honest answer. */
  readonly answer: ((sale: ContrarySale, honest: WireAnswer) => WireAnswer) | null
  /** For so long queries show the sale as it was before. */
  readonly behindMs: number
  /** Notifications, so much later each. */
  readonly notifiesMs: readonly number[]
}

export type Behaviour = {
  readonly [verb in Verb]?: (asked: Asked) => Partial<Plan>
} & {
  /** The record as it is shown; null: as it is. */
  readonly record?: (sale: ContrarySale, shown: WireRecord['Payment']) => WireRecord['Payment'] | null
  /** The answer to a query, instead of the honest one. */
  readonly query?: (honest: WireAnswer, dice: Dice) => WireAnswer
}

/** Whether less is asked for than the sale has left. */
export function isPart({ sale, askedCents }: Asked): boolean {
  return askedCents < leftOf(sale)
}

/** Of a hold, or of what was captured. */
export function leftOf({ capturedCents, amountCents, voidedCents }: ContrarySale): number {
  return (capturedCents || amountCents) - voidedCents
}

/** The answer is lost, or the network notifies of what it did: both lead to a look at the record. */
export function lookedAt({ dice }: Asked): Partial<Plan> {
  return dice.chance(0.6) ? { isLost: true } : { notifiesMs: [dice.between(200, 5_000)] }
}
