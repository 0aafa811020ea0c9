/** The configuration of a simulated installation, and what takes the place of locks and boxes. */
import type { PaymentLock } from '../../redis/locks/payment-lock.js'
import { type Config, readConfig } from '../../runtime/config.js'
import type { Acquirer } from '../../scripts/simulator/acquirer.js'
import type { SealedCard, TypedCard } from '../../vault/box.js'
import { endlessLease } from '../../workers/network/leases.js'

export interface InstallationOptions {
  /** Every worker works on any payment at any time, as if the lock servers had long been away. */
  readonly isLockless?: boolean
  /** Writes wait for a replica (WAIT_REPLICAS=1). */
  readonly isReplicated?: boolean
  readonly hasArchive?: boolean
  /** Streams are changed by hand. */
  readonly isTampered?: boolean
  /** Instead of the simulator's. It knows the sale that proves an absence (known-sale.ts). */
  readonly acquirer?: Pick<Acquirer, 'answer'>
  readonly settings?: Partial<Config>
}

/** The times of production, a good deal shorter, and in the same relation to each other. */
const SETTINGS = {
  SERVICE_ENV: 'test',
  PARTITIONS: '2',
  HEARTBEAT_MS: '500',
  TAKEOVER_AFTER_MS: '2000',
  TIMERS_INTERVAL_MS: '500',
  NETWORK_CONNECT_TIMEOUT_MS: '1000',
  NETWORK_AUTHORISE_TIMEOUT_MS: '5000',
  NETWORK_TIMEOUT_MS: '3000',
  NETWORK_RETRY_MS: '1000',
  NOT_FOUND_HORIZON_MS: '40000',
  RECONCILE_DELAYS_MS: '500,1500,4000,10000,40000,160000',
  WORKER_CONCURRENCY: '3',
  WEBHOOK_TIMEOUT_MS: '2500',
  WEBHOOK_POLL_MS: '500',
  // Few, so that endpoints are full.
  WEBHOOK_CONCURRENCY: '2',
  // Many, so that no trouble lasts until an event is given up.
  WEBHOOK_RETRY_DELAYS_MS: `500,1000,2000${',4000'.repeat(400)}`,
  AUTHORISE_WITHIN_MS: '20000'
}
/** A window of 84,375 ms, in days that a binary fraction can hold. */
const WINDOW_DAYS = 1 / 1024

export function simulatedConfig(hasArchive: boolean): Config {
  const archiveUrl = hasArchive ? 'postgresql://archive.example/payments' : ''
  return { ...readConfig(SETTINGS), preauthTtlDays: { days: WINDOW_DAYS, byName: {} }, archiveUrl }
}

/** Each command has a lease of its own, as with a lock. */
export const noLock: PaymentLock = { withLock: (_, work) => work({ ...endlessLease }) }

/** Boxes of the simulation are plain texts: sealing is proved elsewhere, and costs time. */
export const openerOfTexts = {
  openCard: (box: string) => JSON.parse(box) as SealedCard,
  openTyped: (box: string) => JSON.parse(box) as TypedCard,
  openCvv: (box: string) => box
}
