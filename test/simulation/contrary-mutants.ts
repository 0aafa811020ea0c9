/** Mistakes about an acquirer that contradicts itself, each as the service once made it. They show in contrary worlds. */
import type { CallOutcome } from '../../machines/network.js'
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import { calling, finding, storing } from './exchange.js'

export const contraryMutants = {
  'each-try-a-new-doubt': {
    description: 'Each try of an operation begins a new doubt, and a refusal in unknown words is no answer.',
    contrary: 'refuses voids in no known words',
    worker: storing(({ progress }) => {
      const { reconciliation: open } = progress
      if (open === null) return progress
      return {
        ...progress,
        reconciliation: { ...open, openedMs: open.sinceMs, tries: Math.min(open.tries, 1), refusedMs: null }
      }
    })
  },
  'missing-voided-is-zero': {
    description: 'A record without a voided amount shows that nothing is voided.',
    contrary: 'never shows what is voided',
    worker: finding(sale => ({ ...sale, voidedCents: sale.voidedCents ?? 0 }))
  },
  'part-that-voids-all': {
    description: 'An answer to a refund of a part is not compared with what was asked.',
    contrary: 'voids all for a part',
    worker: withoutOwnLook(calling(withoutStated))
  },
  'part-that-captures-all': {
    description: 'An answer to a capture of a part is not compared with what was asked.',
    contrary: 'captures more than a part',
    worker: withoutOwnLook(calling(withoutStated))
  },
  'failed-is-never-verified': {
    description: 'A notification about a failed payment is forgotten when the record does not show it at once.',
    contrary: 'approves late what it declined',
    worker: storing(({ progress }) =>
      progress.status === 'failed' ? { ...progress, notification: null, reconciliation: null } : progress
    )
  },
  'status-is-refusal': {
    description: 'An answer of 4xx without a known code proves that nothing was booked.',
    contrary: 'books and answers 4xx',
    worker: calling(outcome =>
      outcome.kind === 'unproven' && outcome.reason.includes('HTTP 4') ? { kind: 'rejected', code: 'http' } : outcome
    )
  },
  'voids-without-a-gap': {
    description: 'A void of a duplicate is sent again as soon as the record still shows the sale.',
    contrary: 'sells twice, and its record lags',
    worker: storing(({ progress }) => ({ ...progress, voids: null }))
  },
  'any-currency': {
    description: 'The currency of a sale is not compared.',
    contrary: 'takes another currency',
    worker: finding(sale => ({ ...sale, currency: null }))
  },
  'all-is-authorised': {
    description: 'A sale of which a part was approved counts as approved in full.',
    contrary: 'approves a part',
    worker: storing(({ progress }) => ({ ...progress, authorizedCents: null }))
  },
  'one-look-soon': {
    description: 'A refusal is compared with the record once, soon.',
    contrary: 'refuses, books, and shows it late',
    worker: storing(({ progress }) =>
      progress.notification?.reported === 'own' && progress.notification.attempts > 1
        ? { ...progress, notification: null }
        : progress
    )
  },
  'charged-without-a-word': {
    description: 'A sale that was captured, though a hold was asked for, is not listed.',
    contrary: 'charges where a hold was asked',
    worker: storing(({ terms, progress }) =>
      terms.captureMode === 'manual' && progress.operation.kind === 'authorization'
        ? { ...progress, reviewReason: null }
        : progress
    )
  }
} as const

/** Without the look that compares an own operation with the record. */
function withoutOwnLook(change: (deps: WorkerDeps) => WorkerDeps): (deps: WorkerDeps) => WorkerDeps {
  const forgetting = storing(({ progress }) =>
    progress.notification?.reported === 'own' ? { ...progress, notification: null } : progress
  )
  return deps => forgetting(change(deps))
}

function withoutStated(outcome: CallOutcome): CallOutcome {
  if (outcome.kind !== 'approved') return outcome
  const { stated: _stated, ...rest } = outcome
  return rest
}
