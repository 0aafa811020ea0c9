/** One step of the drill: what is done, what is expected, and how to see it. */
import type { Target } from '../chaos/client.js'
import type { ChaosReceiver } from '../chaos/receiver.js'
import type { Installation } from './installed-service.js'
import type { Load } from './load.js'

export interface Drill {
  readonly installation: Installation
  readonly load: Load
  readonly receiver: ChaosReceiver
  /** Where the merchant sends its requests, and its keys. */
  readonly target: Target
  /** The unpacked folder of the release before, where there is one. */
  readonly beforeFolder: string | undefined
  /** Payments that are made before the durable Redis is restarted. */
  readonly payments: number
}

export interface Seen {
  readonly isOk: boolean
  readonly seen: string
}

export interface Step {
  readonly name: string
  readonly does: string
  readonly expects: string
  /** Nothing is sent meanwhile, and nothing is audited. */
  readonly isQuiet?: true
  /** Resolves to a reason where the step is not possible. The load runs when it begins, and goes on after it. */
  run(drill: Drill): Promise<Seen | { readonly skipped: string }>
}
