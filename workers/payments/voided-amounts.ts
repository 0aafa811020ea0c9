/**
 * What a record that leaves out the voided amount of a captured sale means: nothing, or zero. A refund in doubt must not be
 * sent again on the word of a record that never shows refunds.
 */
import type { QueryOutcome, Sale } from '../../machines/network.js'
import { type KnownSaleStore, strongerOf, type VoidedShown } from '../../redis/reconciliation/known-sale.js'
import type { Clock } from '../../runtime/clock.js'

type Found = Extract<QueryOutcome, { kind: 'found' }>

/** Reads the answers of one account: remembers how its records show voided amounts, and fills in those that are left out. */
export function createVoidedReader({
  knownSales,
  account,
  clock
}: {
  readonly knownSales: KnownSaleStore
  readonly account: string
  readonly clock: Clock
}): (orderId: string, found: Found) => Promise<QueryOutcome> {
  let shown: VoidedShown = 'never'
  return async (orderId, found) => {
    const [first, ...rest] = found.sales
    const seen = found.sales.map(shownIn).reduce(strongerOf)
    if (strongerOf(seen, shown) !== shown) {
      await knownSales.rememberVoided({ account, orderId }, clock.now(), seen)
      shown = seen
    }
    if (found.sales.every(({ voidedCents }) => voidedCents !== null)) return found
    const known = shown === 'always' ? null : await knownSales.read()
    if (known?.account === account) shown = strongerOf(shown, known.voidedShown)
    const missingCents = shown === 'above_zero' ? 0 : null
    const filled = (sale: Sale): Sale => ({ ...sale, voidedCents: sale.voidedCents ?? missingCents })
    return { kind: 'found', sales: [filled(first), ...rest.map(filled)] }
  }
}

function shownIn({ status, voidedCents }: Sale): VoidedShown {
  if (status !== 'captured' || voidedCents === null) return 'never'
  return voidedCents === 0 ? 'always' : 'above_zero'
}
