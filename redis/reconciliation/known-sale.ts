/** A sale that the card network is known to have booked: the positive control of an answer "there is no such sale". */
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'
import { DamagedValue, knownOf, required, storedValue } from '../stored-fields.js'

/**
 * How the records of an account show what was voided of a captured sale: not yet, only above zero, or always. A record that
 * leaves it out means zero in an account that has shown it above zero, and means nothing in one that also shows zeros.
 */
const voidedShown = ['never', 'above_zero', 'always'] as const

export type VoidedShown = (typeof voidedShown)[number]

export interface KnownSale {
  /** Our account at the network that it was booked for. */
  readonly account: string
  readonly orderId: string
  /** Since when this account is in use, by the clock of the service (ms); 0: no other one was in use before. */
  readonly accountSinceMs: number
  /** When it was noted, by the same clock (ms). */
  readonly notedAtMs: number
  readonly voidedShown: VoidedShown
}

/** While payments come in, the known sale is at most this old: a query host with a longer replication lag does not find it (ms). */
export const KNOWN_SALE_FRESH_MS = 60_000

const storedKnownSale = storedValue<KnownSale>('known sale', {
  account: [required],
  orderId: [required],
  accountSinceMs: [0],
  notedAtMs: [required],
  voidedShown: ['never', knownOf(voidedShown)]
})

export const encodeKnownSale = storedKnownSale.encode

export interface KnownSaleStore {
  /** Null: no sale was ever booked, or what was noted is damaged; then no absence is believed. Rejects while Redis is unavailable. */
  read(): Promise<KnownSale | null>
  /** Replaces the sale that was noted before, unless that one is fresh and of the same account. */
  remember(sale: Pick<KnownSale, 'account' | 'orderId'>, nowMs: number): Promise<void>
  /** Notes what the record of a sale has shown. */
  rememberVoided(sale: Pick<KnownSale, 'account' | 'orderId'>, nowMs: number, shown: VoidedShown): Promise<void>
}

/** Two workers may remember at once: each value is true, and the last one stays. */
export function createKnownSaleStore(redis: Redis): KnownSaleStore {
  const find = async (): Promise<KnownSale | 'damaged' | null> => {
    const text = await redis.get(keys.knownSale())
    return text === null ? null : decodeNoted(text)
  }
  const read = async (): Promise<KnownSale | null> => {
    const found = await find()
    return found === 'damaged' ? null : found
  }
  const note = async (sale: KnownSale): Promise<void> => void (await redis.set(keys.knownSale(), encodeKnownSale(sale)))
  const write = async (
    sale: Pick<KnownSale, 'account' | 'orderId'>,
    nowMs: number,
    shown: VoidedShown = 'never'
  ): Promise<void> => {
    const before = await find()
    // Since when this account is in use, a damaged note does not tell: it may be since now.
    if (before === 'damaged' || (before !== null && before.account !== sale.account)) {
      return await note({ ...sale, accountSinceMs: nowMs, notedAtMs: nowMs, voidedShown: shown })
    }
    const voided = strongerOf(shown, before?.voidedShown ?? 'never')
    if (before === null || nowMs - before.notedAtMs >= KNOWN_SALE_FRESH_MS) {
      const accountSinceMs = before?.accountSinceMs ?? 0
      return await note({ ...sale, accountSinceMs, notedAtMs: nowMs, voidedShown: voided })
    }
    if (voided !== before.voidedShown) await note({ ...before, voidedShown: voided })
  }
  return {
    read,
    remember: (sale, nowMs) => write(sale, nowMs),
    rememberVoided: write
  }
}

function decodeNoted(text: string): KnownSale | 'damaged' {
  try {
    return storedKnownSale.decode(text)
  } catch (error) {
    if (error instanceof DamagedValue) return 'damaged'
    throw error
  }
}

/** The one of two that says more. */
export function strongerOf(one: VoidedShown, other: VoidedShown): VoidedShown {
  return voidedShown.indexOf(one) > voidedShown.indexOf(other) ? one : other
}
