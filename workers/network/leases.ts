/** Leases of those who call the card network without a lock. */
import { setMaxListeners } from 'node:events'
import type { Lease } from '../../machines/lease.js'

/** Is lost when `signal` aborts. */
export function leaseUntil(signal: AbortSignal): Lease {
  // One signal has a listener for each call in flight; hundreds are no leak.
  setMaxListeners(0, signal)
  return {
    isLost: () => signal.aborted,
    onLost: listener => {
      signal.addEventListener('abort', listener)
      return () => signal.removeEventListener('abort', listener)
    }
  }
}

/** Is never lost. */
export const endlessLease: Lease = { isLost: () => false, onLost: () => () => undefined }
