/** What can be wrong with the work, and what `operator doctor` must say of it. */
import { keys, partitionOf, paymentKeyOf } from '../../../redis/keys.js'
import { encodePayment } from '../../../redis/payments/payment-record.js'
import { aPayment } from '../../support/payments.js'
import type { Fault } from './doctor-fault.js'

export const faultsOfWork: readonly Fault[] = [
  {
    name: 'a payment whose command was trimmed from its stream',
    break: async ({ durable, service }) => {
      const payment = aPayment({ terms: { merchantId: service.merchantId } })
      const partition = partitionOf(service.merchantId, 16)
      const paymentKey = paymentKeyOf(payment.terms.id)
      const index = keys.byStatus(partition, service.merchantId, 'pending')
      await durable.set(keys.payment(partition, paymentKey), encodePayment(payment))
      await durable.zadd(keys.reconcile(partition), Date.UTC(2100, 0, 2), paymentKey)
      await durable.zadd(index, 0, paymentKey)
      return {
        undo: async () => {
          await durable.zrem(index, paymentKey)
          await durable.zrem(keys.reconcile(partition), paymentKey)
          await durable.del(keys.payment(partition, paymentKey))
        }
      }
    },
    check: 'commands',
    state: 'warning',
    found: /^1 payments in progress have no command any more: [\da-f-]{36} \(2100-01-02T/,
    mend: /`timers` wakes each .*PaymentsNeedOperator/
  },
  {
    name: 'a payment that waits for an operator',
    break: async ({ durable }) => {
      await durable.hset(keys.review(0), 'a-payment', 'poisoned')
      return { undo: async () => void (await durable.hdel(keys.review(0), 'a-payment')) }
    },
    check: 'manual review',
    state: 'warning',
    found: /^1 payments are listed/,
    mend: /`payment attention` .*PaymentsNeedOperator/
  },
  {
    name: 'a dead letter',
    break: async ({ durable }) => {
      const entryId = (await durable.xadd(keys.deadLetters(0), '*', 'e', 'rubbish')) ?? ''
      return { undo: async () => void (await durable.xdel(keys.deadLetters(0), entryId)) }
    },
    check: 'dead letters',
    state: 'warning',
    found: /^1 commands had no result/,
    mend: /`dead-letter list` .*PaymentsNeedOperator/
  },
  {
    name: 'a key that another program wrote',
    break: async ({ durable }) => {
      await durable.set(keys.review(7), 'x')
      return { undo: async () => void (await durable.del(keys.review(7))) }
    },
    check: 'types of keys',
    found: /: \{p07\}:review is a string, not a hash\.$/,
    mend: /RENAME .*OPERATIONS/
  }
]
