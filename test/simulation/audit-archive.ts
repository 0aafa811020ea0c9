/** Two stores as one: no payment is in neither, and merchants see in both what one store would show them. */
import { paymentStatuses } from '../../machines/model.js'
import { paymentIdOfKey, paymentKeyOf } from '../../redis/keys.js'
import { decodePayment, encodePayment } from '../../redis/payments/payment-record.js'
import { readFinalState } from './final-state.js'
import type { RedisData } from './redis-data.js'
import type { Installation } from './simulated-installation.js'
import type { MerchantClient } from './simulated-merchant.js'
import { nextLookMs, notMoved } from './simulated-mover.js'
import type { Process, World } from './world.js'

/** What rests moves within this time, also when it has just come back. */
const MOVED_WITHIN_MS = 3 * 3_600_000
const VIEW_WITHIN_MS = 60_000

/** A payment leaves Redis in the version that the archive has. */
export function watchRemovals(
  [name, key = '']: readonly string[],
  data: RedisData,
  { archive }: Installation,
  violations: Set<string>
): void {
  const paymentKey = /:pay:(.+)$/.exec(key)?.[1]
  const text = name === 'DEL' && paymentKey !== undefined ? data.text(key) : null
  if (paymentKey === undefined || text === null) return
  const archived = archive?.rows.rows.get(paymentIdOfKey(paymentKey))
  if (archived !== encodePayment(decodePayment(text, paymentKey))) {
    violations.add(`${key}: leaves Redis, and the archive does not have it as it is`)
  }
}

/** Looks as merchants do, before and after all that rests has moved. */
export async function auditMoving(
  world: World,
  installation: Installation,
  outside: Process,
  merchants: readonly MerchantClient[]
): Promise<string[]> {
  const before = await viewed(world, installation, outside, merchants)
  await world.turn(() => notMoved(installation).length === 0, MOVED_WITHIN_MS)
  const left = notMoved(installation).map(paymentKey => {
    const lookMs = nextLookMs(installation, paymentKey)
    return `${paymentKey}: rests, and does not leave Redis; looked at in ${(lookMs ?? NaN) - world.nowMs} ms`
  })
  const after = await viewed(world, installation, outside, merchants)
  const stale = auditRows(installation)
  return [...before, ...left, ...after, ...stale]
}

/** What merchants see, compared with what is stored. */
async function viewed(
  world: World,
  installation: Installation,
  outside: Process,
  merchants: readonly MerchantClient[]
): Promise<string[]> {
  const problems: string[] = []
  let open = merchants.length
  world.spawn(outside, () => {
    for (const merchant of merchants) {
      void view(world, installation, merchant)
        .catch((error: unknown) => [`${merchant.id}: can't read its payments: ${error}`])
        .then(found => {
          problems.push(...found)
          open--
        })
    }
  })
  if (!(await world.turn(() => open === 0, VIEW_WITHIN_MS))) problems.push('merchants get no answers')
  return problems
}

async function view(world: World, installation: Installation, merchant: MerchantClient): Promise<string[]> {
  const problems: string[] = []
  const { payments } = readFinalState(installation)
  const own = [...payments.values()]
    .filter(({ terms }) => terms.merchantId === merchant.id)
    .sort((one, other) => (one.terms.id < other.terms.id ? 1 : -1))
  for (const payment of own) {
    const { id } = payment.terms
    const read = await untilAnswered(world, () => merchant.read(id))
    if (read === null || encodePayment(read) !== encodePayment(payment)) problems.push(`${id}: is not read as it is`)
  }
  for (const status of [null, ...paymentStatuses]) {
    const wanted = own.filter(({ progress }) => status === null || progress.status === status)
    const listed = await untilAnswered(world, () => merchant.list(status))
    if (listed.map(encodePayment).join('\n') !== wanted.map(encodePayment).join('\n')) {
      const ids = listed.map(({ terms }) => terms.id).join()
      problems.push(
        `the list of ${status ?? 'all'} has ${ids}, stored are ${wanted.map(({ terms }) => terms.id).join()}`
      )
    }
  }
  return problems
}

/** A process that died right before the peace may not be back. */
async function untilAnswered<T>(world: World, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await world.pause(200)
    }
  }
}

/** What both stores have is not newer in the archive. */
function auditRows(installation: Installation): string[] {
  const { inRedis } = readFinalState(installation)
  return [...(installation.archive?.rows.rows ?? [])].flatMap(([id, record]) => {
    const archived = decodePayment(record, paymentKeyOf(id)).version
    const stored = inRedis.get(id)?.version ?? archived
    return archived > stored ? [`${id}: is in version ${archived} in the archive, in version ${stored} in Redis`] : []
  })
}
