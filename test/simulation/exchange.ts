/** What a planted mistake (mutants.ts) or a planted circumstance (crash-matrix.ts) exchanges in an installation. */
import type { PaymentArchive } from '../../archive/archive.js'
import type { Payment, PaymentProgress } from '../../machines/model.js'
import type { CallOutcome, CardNetwork, QueryOutcome, Sale } from '../../machines/network.js'
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import type { DeliveryDeps } from '../../workers/webhooks/deliver.js'

export interface Exchange {
  /** Exchanges the text of the script that it is about, and leaves the others. */
  readonly script?: (lua: string) => string
  /** `network`: as it answers, without what the worker asks besides before it believes an absence. */
  readonly worker?: (deps: WorkerDeps, network: CardNetwork) => WorkerDeps
  /** The archive as every process uses it. */
  readonly archive?: (archive: PaymentArchive) => PaymentArchive
  readonly webhooks?: (deps: DeliveryDeps) => DeliveryDeps
}

/** Exchanges one text of a script, word by word. */
export function replace(text: string, by: string): (lua: string) => string {
  return lua => lua.replace(text, by)
}

type ChangeOfWorker = (deps: WorkerDeps) => WorkerDeps

/** Workers that store something else than was decided. */
export function storing(change: (payment: Payment) => PaymentProgress): ChangeOfWorker {
  return deps => ({
    ...deps,
    commits: {
      ...deps.commits,
      commit: (write, partition) =>
        deps.commits.commit({ ...write, payment: { ...write.payment, progress: change(write.payment) } }, partition)
    }
  })
}

/** Workers that read another outcome of their calls, of each kind or of some. */
export function calling(
  change: (outcome: CallOutcome) => CallOutcome,
  kinds: readonly ('authorise' | 'capture' | 'void')[] = ['authorise', 'capture', 'void']
): ChangeOfWorker {
  return deps => {
    const { network } = deps
    const changed: Partial<CardNetwork> = {
      authorise: async (...args) => change(await network.authorise(...args)),
      capture: async (...args) => change(await network.capture(...args)),
      void: async (...args) => change(await network.void(...args))
    }
    const chosen = Object.fromEntries(kinds.map(kind => [kind, changed[kind]]))
    return { ...deps, network: { ...network, ...chosen } }
  }
}

/** Workers that read another answer to their queries. */
export function asking(change: (outcome: QueryOutcome) => QueryOutcome): ChangeOfWorker {
  return deps => ({
    ...deps,
    network: { ...deps.network, query: async (...args) => change(await deps.network.query(...args)) }
  })
}

/** Workers that read other sales in the record. */
export function finding(change: (sale: Sale) => Sale): ChangeOfWorker {
  return asking(outcome => {
    if (outcome.kind !== 'found') return outcome
    const [first, ...rest] = outcome.sales
    return { kind: 'found', sales: [change(first), ...rest.map(change)] }
  })
}
