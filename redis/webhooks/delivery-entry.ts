/**
 * The command to deliver the first event of a payment, as it stands in a stream. Without `kind`, which is `deliver` as a
 * rule, it is also how a payment stands in the line of its endpoint: scripts move it from one to the other.
 */
import { type StreamEntry, storedPaymentKey } from '../commands/command-entry.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { DamagedValue, numbered, required, storedValue } from '../stored-fields.js'

/** A payment in the line of an endpoint. */
export interface LineMember {
  /** Payment key of the payment. */
  readonly paymentKey: string
  readonly merchantId: string
}

interface DeliveryCommand extends LineMember {
  /** `trial`: sent although the endpoint is paused. */
  readonly kind: 'deliver' | 'trial'
}

export interface DeliveryEntry extends StreamEntry, DeliveryCommand {}

const storedDelivery = storedValue<DeliveryCommand>('delivery', {
  paymentKey: [required, storedPaymentKey],
  merchantId: [required],
  kind: ['deliver', numbered(['deliver', 'trial'])]
})

export function encodeLineMember({ paymentKey, merchantId }: LineMember): string {
  return storedDelivery.encode({ paymentKey, merchantId, kind: 'deliver' })
}

/** Reads a member, or the text of a command. Throws as `storedValue` does. */
export const decodeLineMember: (text: string) => LineMember = storedDelivery.decode

/** The fields of a stream entry. */
export function encodeDelivery(delivery: DeliveryCommand): string[] {
  return ['e', storedDelivery.encode(delivery)]
}

/** Reads an entry. Throws as `storedValue` does. */
export function decodeDelivery(entry: StreamEntry): DeliveryEntry {
  const text = fieldsOf(entry.fields).get('e')
  if (text === undefined) throw new DamagedValue(`The stream entry ${entry.entryId} is not the command of a delivery.`)
  return { ...entry, ...storedDelivery.decode(text) }
}
