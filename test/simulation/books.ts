/** What the audit of a world compares (audit.ts). */
import type { Payment } from '../../machines/model.js'
import type { Ledger } from '../../scripts/simulator/ledger.js'
import type { Installation } from './simulated-installation.js'

export interface Books {
  /** The service's payments, by id. */
  readonly payments: ReadonlyMap<string, Payment>
  /** The network's. */
  readonly ledger: Ledger
  readonly installation: Installation
}
