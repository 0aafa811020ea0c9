/**
 * The command to deliver the first event of a payment, as it stands in a stream. Without `kind`, which is `deliver` as a
 * rule, it is also how a payment stands in the line of its endpoint: scripts move it from one to the other.
 */
import type { StreamEntry } from '../commands/command-entry.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { DamagedValue, numbered, required, storedValue } from '../stored-fields.js'

export interface DeliveryEntry extends StreamEntry {
  /** Payment key of the payment. */
  readonly paymentKey: string
  readonly merchantId: string
  /** `trial`: sent although the endpoint rests. */
  readonly kind: 'deliver' | 'trial'
}

export type Place = Pick<DeliveryEntry, 'paymentKey' | 'merchantId'>

type Delivery = Place & Pick<DeliveryEntry, 'kind'>

const storedDelivery = storedValue<Delivery>('delivery', {
  paymentKey: [required],
  merchantId: [required],
  kind: ['deliver', numbered(['deliver', 'trial'])]
})

/** How a payment stands in the line of its endpoint. */
export function encodePlace({ paymentKey, merchantId }: Omit<Delivery, 'kind'>): string {
  return storedDelivery.encode({ paymentKey, merchantId, kind: 'deliver' })
}

/** Reads what `encodePlace` wrote. Throws as `storedValue` does. */
export function decodePlace(text: string): Omit<Delivery, 'kind'> {
  return storedDelivery.decode(text)
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
