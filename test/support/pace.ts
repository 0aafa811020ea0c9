/** A pace for tests of something else. */
import type { ReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'

export const unboundedPace: ReconcilePace = {
  take: async wanted => wanted,
  returnUnused: async () => undefined,
  noteAnswer: async () => undefined
}
