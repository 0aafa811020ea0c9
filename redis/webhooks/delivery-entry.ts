/**
 * The command to deliver the first event of a payment, as it stands in a stream. Without `kind`, which is `deliver` as a
 * rule, it is also how a payment stands in the lists of what waits: scripts move it from one to the other.
 */
import type { StreamEntry } from '../commands/command-entry.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { DamagedValue, oneOf, required, storedValue } from '../stored-fields.js'

export interface DeliveryEntry extends StreamEntry {
  /** Payment key of the payment. */
  readonly paymentKey: string
  readonly merchantId: string
  /** `probe`: sent although the circuit of the endpoint is open. */
  readonly kind: 'deliver' | 'probe'
}

type Delivery = Pick<DeliveryEntry, 'paymentKey' | 'merchantId' | 'kind'>

const storedDelivery = storedValue<Delivery>('delivery', {
  paymentKey: [required],
  merchantId: [required],
  kind: ['deliver', oneOf(['deliver', 'probe'])]
})

/** For fire_due.lua: the member of the list is the entry. */
export const DELIVERY_TEMPLATE = '%s'

/** How a payment stands in the lists of what waits. */
export function encodePlace({ paymentKey, merchantId }: Omit<Delivery, 'kind'>): string {
  return storedDelivery.encode({ paymentKey, merchantId, kind: 'deliver' })
}

/** Reads what `encodePlace` wrote. Throws as `storedValue` does. */
export function decodePlace(text: string): Omit<Delivery, 'kind'> {
  return storedDelivery.decode(text)
}

/** A pattern of Redis that matches the places of a merchant. */
export function placesOfMerchant(merchantId: string): string {
  return `*,${JSON.stringify(merchantId)}]`
}

/** The fields of a stream entry. */
export function encodeDelivery({ paymentKey, merchantId, kind }: Delivery): string[] {
  return ['e', storedDelivery.encode({ paymentKey, merchantId, kind })]
}

/** Reads an entry. Throws as `storedValue` does. */
export function decodeDelivery({ entryId, partition, fields, consumer, delivery }: StreamEntry): DeliveryEntry {
  const text = fieldsOf(fields).get('e')
  if (text === undefined) throw new DamagedValue(`The stream entry ${entryId} is not the command of a delivery.`)
  return { partition, entryId, fields, consumer, delivery, ...storedDelivery.decode(text) }
}
