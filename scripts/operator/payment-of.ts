/** The payment that an operator names. */
import type { Payment } from '../../machines/model.js'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { isUuid } from '../../runtime/uuid.js'
import { UsageError } from '../command-line/usage-error.js'
import type { OperatorConnection } from './connection.js'

/** The subject of a verb. */
export const PAYMENT = ['payment', 'id of the payment'] as const

/** Throws `UsageError` for what is no id, and `Error` when there is no such payment. */
export async function paymentOf({ payments, config }: OperatorConnection, given: string): Promise<Payment> {
  const id = given.toLowerCase()
  if (!isUuid(id)) throw new UsageError(`"${given}" is not the id of a payment, which is a UUID`)
  const partition = partitionOfPayment(id)
  const payment = partition < config.partitions ? await payments.load(partition, paymentKeyOf(id)) : null
  if (payment === null) throw new Error(`There is no payment ${id} in this installation.`)
  return payment
}
