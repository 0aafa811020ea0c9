/** When a payment may leave Redis: it has nothing to do, and has been like that for long. */
import { isOpen, type PaymentProgress } from '../model.js'
import { wakeAtMs } from './decide.js'
import { hasTag } from './machine.js'

/** Whether nothing is left to do for the service or an operator. Merchants and the network may still ask for something. */
export function isAtRest(progress: PaymentProgress): boolean {
  const { operation, reconciliation, notification, reviewReason } = progress
  const isWaited = reconciliation !== null || notification !== null || reviewReason !== null
  return hasTag(progress, 'resting') && !isOpen(operation) && !isWaited && wakeAtMs(progress) === null
}
