/** Runs the operator's command to erase the buyer of a payment. It is no event of the chart: status and amounts stay. */
import { isBuyerErased, withoutBuyer } from '../../machines/payment/erasure.js'
import { wakeTimes } from '../../machines/payment/wake-ups.js'
import type { CommandRun } from './command-run.js'
import { timeFor } from './command-start.js'
import { policyFor } from './worker-deps.js'

/**
 * Runs under the lock, and may run again: an erased payment, or one that can't be changed now, stays as it is. The archive
 * may hold or soon receive an older version: it is replaced before the command ends.
 */
export async function eraseBuyer({ entry, deps, recorder, onBegin }: CommandRun): Promise<void> {
  for (;;) {
    const payment = await deps.payments.loadForChange(entry.partition, entry.paymentKey)
    if (payment === null) return await recorder.finish()
    const nowMs = timeFor(payment, deps)
    const erased = withoutBuyer(payment, nowMs)
    if (erased !== null) {
      const write = { payment: erased, statusBefore: erased.progress.status, operationResult: null, nowMs }
      const wake = wakeTimes(erased, nowMs, policyFor(entry.partition, deps))
      onBegin()
      const written = await recorder.commit({ ...write, wake, ends: null, begins: entry })
      if (written === 'version_conflict') continue
      if (written !== 'committed') return
    }
    const current = erased ?? payment
    if (isBuyerErased(current.terms)) await deps.payments.replaceArchived(current)
    return await recorder.finish()
  }
}
