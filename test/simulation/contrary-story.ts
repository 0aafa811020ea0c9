/** What merchants do with their payments in a contrary world. */
import type { Refund } from '../../machines/model.js'
import type { Stage } from './stage.js'
import { aRequest, tokenise } from './story.js'

const PAUSE_MEAN_MS = 8_000
/** Approved, and declined; by the acquirer's documents. */
const CARDS = ['4024007153760060', '4024007153760060', '4024007153760060', '4024007153760052'] as const
const REFUNDS_MAX = 3
/** Long enough for all that the network notifies of. */
const AGAIN_AFTER_MS = 300_000

/** One payment: a hold that is captured in whole or in part, cancelled or left, or a charge; and refunds. */
export async function playContrary(stage: Stage, name: string): Promise<void> {
  const { world, client } = stage
  const { random } = world
  await world.pause(random.exponential(PAUSE_MEAN_MS))
  const tokenId = await tokenise(stage, random.pick(CARDS))
  const isManual = random.chance(0.5)
  const amountCents = random.pick([5_000, 10_000])
  const created = await client.create(`${name}-create`, aRequest(name, tokenId, amountCents, isManual))
  const { paymentId } = created
  if (paymentId === null || created.result?.kind !== 'succeeded') return
  const operate = async (kind: 'capture' | 'cancel', step: number, cents: number | null): Promise<void> => {
    await world.pause(random.exponential(PAUSE_MEAN_MS))
    await client.operate(kind, `${name}-${kind}-${step}`, paymentId, cents)
  }
  if (isManual) {
    const end = random.pick(['capture', 'capture', 'part', 'part', 'cancel', 'lapse'])
    if (end === 'lapse') return
    if (end === 'cancel') return await operate('cancel', 0, null)
    await operate('capture', 0, end === 'part' ? Math.floor(amountCents / 2) : null)
  }
  const refunds = random.between(0, REFUNDS_MAX)
  const fifth = Math.floor(amountCents / 5)
  for (let step = 1; step <= refunds; step++) {
    await operate('cancel', step, random.pick([fifth, fifth, Math.floor(amountCents / 4), null]))
  }
  await world.pause(AGAIN_AFTER_MS)
  const payment = await client.read(paymentId).catch(() => null)
  const reversed = payment?.progress.refunds.filter(isReversed) ?? []
  for (const [index, refund] of reversed.entries()) await operate('cancel', 10 + index, refund.amountCents)
}

/** What the network took back is refunded again, as docs/PAYMENTS.md tells merchants. */
function isReversed({ error }: Refund): boolean {
  return error === 'refund_reversed'
}
