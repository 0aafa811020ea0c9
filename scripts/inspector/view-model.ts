/** What the inspector's server sends to its page. Types only, because the page is compiled for browsers. */

/** One thing that happened to a payment. */
export interface HistoryLine {
  readonly atMs: number
  readonly event: string
  readonly from: string
  readonly to: string
  readonly detail: string | null
  readonly times: number
  /** The call to the card network that followed; null: none. */
  readonly effect: string | null
  /** Id of the sale at the network, where the event is an answer about it. */
  readonly reference: string | null
  /** Why the event changed nothing. */
  readonly refusal: string | null
  /** The process that decided; null for what happened before the inspector was open. */
  readonly worker: string | null
}

/** A payment as the server sends it, each time that it moves. */
export interface SeenPayment {
  readonly id: string
  readonly facts: PaymentFacts
}

/** What is shown beside the chart. */
export interface PaymentFacts {
  /** `capturing.reconciling` */
  readonly place: string
  readonly merchantId: string
  readonly captureMode: 'auto' | 'manual'
  readonly amountCents: number
  readonly capturedCents: number
  readonly refundedCents: number
  readonly brand: string
  readonly createdAtMs: number
  readonly references: Readonly<Record<string, string | null>>
  readonly operation: string
  readonly reviewReason: string | null
  readonly worker: string | null
  readonly lines: readonly HistoryLine[]
}

/** What may happen next in a state. */
export interface NextStep {
  readonly event: string
  readonly guard: string | null
  readonly next: string
  readonly effect: string | null
  readonly description: string
}

export interface MachineView {
  readonly pictures: readonly {
    readonly name: string
    readonly title: string
    readonly level: 'overview' | 'detail'
    /** States of the first level that it shows. */
    readonly states: readonly string[]
    readonly svg: string
  }[]
  /** By innermost state. */
  readonly descriptions: Readonly<Record<string, string>>
  readonly next: Readonly<Record<string, readonly NextStep[]>>
  /** Ways to begin a what-if. */
  readonly beginnings: readonly string[]
}

/** An event for the scratch payment. */
export interface Choice {
  readonly id: string
  readonly label: string
  /** Whether the event is possible now; others are accepted, but nothing sends them. */
  readonly isTimely: boolean
  readonly next: string | null
  readonly effect: string | null
  readonly refusal: string | null
}

export interface WhatIf {
  readonly place: string
  readonly lines: readonly HistoryLine[]
  readonly choices: readonly Choice[]
}
