/** Invariant 6: each change of status has its event in the outbox, once, and in order. */
import type { Payment } from '../../machines/model.js'
import { compactId, keys, partitionOf } from '../../redis/keys.js'
import type { Books } from './audit.js'

export function auditOutbox({ installation }: Books, payment: Payment): string[] {
  const { id, merchantId } = payment.terms
  const partition = partitionOf(merchantId, installation.config.partitions)
  const compact = compactId(id)
  const entries = installation.durable.data.stream(keys.outbox(partition))?.entries.values() ?? []
  const told: string[] = []
  for (const fields of entries) {
    const field = (name: string): string | undefined => fields[fields.indexOf(name) + 1]
    if (field('p') === compact) told.push((JSON.parse(field('e') ?? '{}') as { status: string }).status)
  }
  const lived = payment.history.map(line => line.status)
  const changes = lived.filter((status, index) => status !== (index === 0 ? 'pending' : lived[index - 1]))
  return changes.join() === told.join() ? [] : [`${id}: went ${changes.join()}, the outbox says ${told.join()}`]
}
