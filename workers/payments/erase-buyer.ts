/** The command of an operator that erases the buyer of a payment. No event of the chart: status and figures stay. */
import { wakeTimes } from '../../machines/payment/decide.js'
import { withoutBuyer } from '../../machines/payment/erasure.js'
import type { CommandEntry } from '../../redis/commands/command-entry.js'
import { timeFor } from './run-command.js'
import type { WorkerDeps } from './worker-deps.js'

/** Runs under the lock, and may run again: what is erased is left alone. A payment that can't be changed now is, too. */
export async function eraseBuyer(entry: CommandEntry, deps: WorkerDeps, onBegin: () => void): Promise<void> {
  for (;;) {
    const payment = await deps.payments.load(entry.partition, entry.paymentKey)
    const nowMs = payment === null ? 0 : timeFor(payment, deps)
    const erased = payment === null ? null : withoutBuyer(payment, nowMs)
    if (erased === null) return await deps.commits.finish(entry, null)
    onBegin()
    const { progress } = erased
    const written = await deps.commits.commit(
      {
        payment: erased,
        statusBefore: progress.status,
        operationResult: null,
        nowMs,
        wake: wakeTimes(progress),
        ends: entry,
        begins: entry
      },
      entry.partition
    )
    if (written !== 'version_conflict') return
  }
}
