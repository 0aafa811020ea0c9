/** The audit of the indexes at the end of a run: lists and notifications must find each payment, once. */
import { keys, partitionOf, paymentKeyOf } from '../../redis/keys.js'
import { referencePrefix } from '../../redis/payments/payment-indexes.js'
import type { FinalState } from './final-state.js'

/**
 * Each payment of Redis is in the index of its status, in the index of its reference, and under its sale. Anything else in an
 * index is a violation.
 */
export function auditIndexes({ inRedis, installation }: FinalState): string[] {
  const { data } = installation.durable
  const members = new Map<string, Set<string>>()
  for (const [key, value] of data.values) {
    if (value.type === 'zset' && /:(st|ref):/.test(key)) members.set(key, new Set(value.zset.keys()))
  }
  const problems: string[] = []
  for (const { terms, progress } of inRedis.values()) {
    const { id, merchantId, externalReference } = terms
    const partition = partitionOf(merchantId, installation.config.partitions)
    const paymentKey = paymentKeyOf(id)
    for (const [key, member] of [
      [keys.byStatus(partition, merchantId, progress.status), paymentKey],
      [keys.byReference(partition, merchantId), `${referencePrefix(externalReference)}${paymentKey}`]
    ] as const) {
      if (!members.get(key)?.delete(member)) problems.push(`${id}: is ${progress.status}, and not in ${key}`)
    }
    const sale = progress.references.saleId?.toLowerCase()
    if (sale !== undefined && data.hash(keys.sales(partition, sale))?.get(sale) !== paymentKey) {
      problems.push(`${id}: is not found by its sale ${sale}`)
    }
  }
  for (const [key, rest] of members) for (const member of rest) problems.push(`${key}: ${member} does not belong there`)
  return problems
}
