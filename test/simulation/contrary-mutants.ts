/** Mistakes about an acquirer that contradicts itself, each as the service once made it. They show in contrary worlds. */
import { type CallOutcome, paymentIdOf, type QueryOutcome } from '../../machines/network.js'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import type { Commit } from '../../redis/payments/commits.js'
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
  'closed-and-zero-is-a-reversal': {
    description: 'A record of a closed sale of which nothing is voided takes a refund back.',
    contrary: 'shows a refund of nothing',
    worker: finding(sale =>
      sale.status === 'voided' && sale.voidedCents === 0 ? { ...sale, status: 'captured' } : sale
    )
  },
  'captured-zero-is-nothing-new': {
    description: 'A record of a captured sale of which nothing is captured is believed.',
    contrary: 'shows a capture of nothing',
    worker: finding(sale =>
      sale.status === 'captured' && sale.capturedCents === 0 ? { ...sale, status: 'authorised' } : sale
    )
  },
  'any-sale-is-ours': {
    description: 'The sale in the record is taken for that of the payment, also with another id.',
    contrary: 'names another sale in its answer',
    worker: (deps: WorkerDeps): WorkerDeps => ({
      ...deps,
      network: {
        ...deps.network,
        query: async (orderId, lease) => asOwn(await deps.network.query(orderId, lease), await ownSaleId(deps, orderId))
      }
    })
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
      progress.status === 'failed' ? { ...progress, verification: null, reconciliation: null } : progress
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
    worker: storing(({ progress }) => ({ ...progress, voids: [] }))
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
      progress.verification?.reported === 'own' && progress.verification.attempts > 1
        ? { ...progress, verification: null }
        : progress
    )
  },
  'listed-and-queried-for-ever': {
    description: 'What is listed for its age is queried as often as before.',
    contrary: 'refuses voids in no known words',
    worker: committing(write => dueWithin(write, LONGEST_GAP_MS))
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

/** The sale id that the payment of an order is known to own. */
async function ownSaleId({ payments }: WorkerDeps, orderId: string): Promise<string | null> {
  const paymentId = paymentIdOf(orderId)
  if (paymentId === null) return null
  const payment = await payments.load(partitionOfPayment(paymentId), paymentKeyOf(paymentId))
  return payment?.progress.references.saleId ?? null
}

/** The record with this id in the place of that of its first sale. */
function asOwn(outcome: QueryOutcome, saleId: string | null): QueryOutcome {
  if (outcome.kind !== 'found' || saleId === null) return outcome
  const [first, ...rest] = outcome.sales
  return { kind: 'found', sales: [{ ...first, references: { ...first.references, saleId } }, ...rest] }
}

/** The last gap of the schedule of simulated worlds (simulated-settings.ts). */
const LONGEST_GAP_MS = 160_000

/** Workers that write another commit than was decided. */
function committing(change: (write: Commit) => Commit): (deps: WorkerDeps) => WorkerDeps {
  return deps => ({
    ...deps,
    commits: { ...deps.commits, commit: (write, partition) => deps.commits.commit(change(write), partition) }
  })
}

/** A commit after which an outcome in doubt is queried at the latest so much later. */
function dueWithin(write: Commit, maxMs: number): Commit {
  const { payment, wake } = write
  const { reconciliation } = payment.progress
  const latestMs = (payment.history.at(-1)?.atMs ?? 0) + maxMs
  if (reconciliation === null || wake.reconcileAtMs === null) return write
  const nextAtMs = Math.min(reconciliation.nextAtMs, latestMs)
  const progress = { ...payment.progress, reconciliation: { ...reconciliation, nextAtMs } }
  return { ...write, payment: { ...payment, progress }, wake: { ...wake, reconcileAtMs: nextAtMs } }
}

/** Without the look that compares an own operation with the record. */
function withoutOwnLook(change: (deps: WorkerDeps) => WorkerDeps): (deps: WorkerDeps) => WorkerDeps {
  const forgetting = storing(({ progress }) =>
    progress.verification?.reported === 'own' ? { ...progress, verification: null } : progress
  )
  return deps => forgetting(change(deps))
}

function withoutStated(outcome: CallOutcome): CallOutcome {
  if (outcome.kind !== 'approved') return outcome
  const { stated: _stated, ...rest } = outcome
  return rest
}
