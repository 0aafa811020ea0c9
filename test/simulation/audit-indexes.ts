/** The audit of the indexes at the end of a run: lists and notifications must find each payment, once. */
import { keys, partitionOf, paymentKeyOf } from '../../redis/keys.js'
import {
  leafMark,
  referenceIndex,
  referencePrefix,
  statusIndex,
  withLeaves
} from '../../redis/payments/payment-indexes.js'
import type { FinalState } from './final-state.js'

/**
 * Each payment of Redis is once in the index of its status, once in the index of its reference, and under its sale. Each leaf has
 * its mark. Anything else in an index is a violation.
 */
export function auditIndexes({ inRedis, installation }: FinalState): string[] {
  const { data } = installation.durable
  const members = new Map<string, Set<string>>()
  for (const [key, value] of data.values) {
    if (value.type === 'zset' && /:(st|ref):/.test(key)) members.set(key, new Set(value.zset.keys()))
  }
  const leaves = new Map<string, { before: string; mark: string }>()
  const problems: string[] = []
  for (const { terms, progress } of inRedis.values()) {
    const { id, merchantId, externalReference } = terms
    const partition = partitionOf(merchantId, installation.config.partitions)
    const paymentKey = paymentKeyOf(id)
    const reference = referencePrefix(externalReference)
    const mark = leafMark(paymentKey)
    for (const { index, prefix } of [
      { index: statusIndex(partition, merchantId, progress.status), prefix: '' },
      { index: referenceIndex(partition, merchantId, reference), prefix: reference }
    ]) {
      const places = withLeaves(index, mark)
      const found = places.filter(key => members.get(key)?.delete(`${prefix}${paymentKey}`))
      if (found.length !== 1) problems.push(`${id}: is ${progress.status}, and in ${found.length} keys of ${index[0]}`)
      const [key = ''] = found
      if (places.indexOf(key) === index.length) {
        leaves.set(`${key} ${prefix}`, { before: index.at(-1) ?? '', mark: `${prefix}${mark}` })
      }
    }
    const sale = progress.references.saleId?.toLowerCase()
    if (sale !== undefined && data.hash(keys.sales(partition, sale))?.get(sale) !== paymentKey) {
      problems.push(`${id}: is not found by its sale ${sale}`)
    }
  }
  for (const { before, mark } of leaves.values()) {
    if (!members.get(before)?.delete(mark)) problems.push(`${before}: has a leaf without the mark ${mark}`)
  }
  for (const [key, rest] of members) for (const member of rest) problems.push(`${key}: ${member} does not belong there`)
  return problems
}
