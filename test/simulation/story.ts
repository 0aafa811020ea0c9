/** What happens to one payment in a world: chosen by chance, and played by the merchant, the buyer and the network. */

import type { CreateRequest } from '../../api/payments/payments-port.js'
import { noTexts } from '../../machines/merchant-text-rules.js'
import { orderIdOf } from '../../machines/network.js'
import { paymentKeyOf } from '../../redis/keys.js'
import { createTokenStore, newTokenId } from '../../redis/tokens/tokens.js'
import { type LedgerSale, LedgerStatus } from '../../scripts/simulator/ledger.js'
import { misbehavingAmounts } from '../../scripts/simulator/outcomes.js'
import { buyer } from '../support/payments.js'
import { touchSale } from './by-hand.js'
import { nextLookMs } from './simulated-mover.js'
import { report, type Stage, untilDone } from './stage.js'

/** Test cards by last digit: approved, declined, no answer (denied, authorised). */
const CARDS = [
  '4024007153760060',
  '4024007153760060',
  '4024007153760052',
  '4024007153760086',
  '4024007153760029'
] as const
export const BUYER = { name: 'Maria da Silva', email: 'maria@example.com' } as const
const PAUSE_MEAN_MS = 4_000
/** Beyond the window of a pre-authorisation. */
const PATIENCE_MS = 110_000
const LATE_VISITS_MAX = 3
const LATE_MEAN_MS = 2 * 3_600_000

/** Plays one payment from its token to the last operation. */
export async function play(stage: Stage, name: string): Promise<void> {
  const { world, client } = stage
  const { random } = world
  await world.pause(random.exponential(PAUSE_MEAN_MS))
  const tokenId = await tokenise(stage, random.pick(CARDS))
  const isManual = random.chance(0.5)
  const amountCents = random.pick([5_000, 10_000, 993, 994])
  const created = await client.create(`${name}-create`, aRequest(name, tokenId, amountCents, isManual))
  const { paymentId } = created
  if (paymentId === null || created.result?.kind !== 'succeeded') return
  const steps = random.between(0, 4)
  for (let step = 0; step < steps; step++) {
    await world.pause(random.chance(0.1) ? PATIENCE_MS : random.exponential(PAUSE_MEAN_MS))
    const operations = random.chance(0.25) ? 2 : 1
    await Promise.all(
      Array.from({ length: operations }, (_, index) =>
        operate(stage, `${name}-${step}${'ab'[index]}`, paymentId, amountCents)
      )
    )
  }
  if (stage.installation.archive !== null) await playLate(stage, name, paymentId, amountCents)
}

/** What happens hours later, mostly about the time at which the payment moves to the archive. */
async function playLate(stage: Stage, name: string, paymentId: string, amountCents: number): Promise<void> {
  const { world, client, installation } = stage
  const { random } = world
  const visits = random.between(1, LATE_VISITS_MAX)
  for (let visit = 0; visit < visits; visit++) {
    const lookMs = nextLookMs(installation, paymentKeyOf(paymentId))
    const isAbout = lookMs !== null && random.chance(0.7)
    await world.pause(isAbout ? lookMs - world.nowMs + random.between(-3_000, 6_000) : random.exponential(LATE_MEAN_MS))
    await client.look(paymentId)
    const part = random.chance(0.5) ? amountCents : Math.floor(amountCents / 5)
    const operations = random.between(0, 2)
    await Promise.all([
      ...Array.from({ length: operations }, (_, index) =>
        operate(stage, `${name}-late-${visit}${'ab'[index]}`, paymentId, part)
      ),
      client.lookAtAll()
    ])
    await client.look(paymentId)
  }
}

async function operate(stage: Stage, key: string, paymentId: string, amountCents: number): Promise<void> {
  const { random } = stage.world
  if (random.chance(0.1)) return await chargeBack(stage, paymentId)
  if (random.chance(0.05)) return await sellTwice(stage, paymentId)
  if (random.chance(stage.installation.faults.byHand)) return await touchSale(stage, paymentId)
  const part = random.pick([
    null,
    null,
    amountCents,
    Math.floor(amountCents / 2),
    Math.floor(amountCents / 4),
    991,
    992
  ])
  await stage.client.operate(random.pick(['capture', 'cancel', 'cancel']), key, paymentId, part)
}

/** The buyer disputes at the bank; the network books it and sends a notification. */
export async function chargeBack(stage: Stage, paymentId: string): Promise<void> {
  const { world, installation } = stage
  const { ledger } = installation.network
  const [first, ...others] = ledger.ofOrder(orderIdOf(paymentId)).filter(({ capturedAmount }) => capturedAmount > 0)
  if (first === undefined) return
  const sale = world.random.pick([first, ...others])
  world.note('chargeback')
  ledger.book({ ...sale, chargebackCase: '1' })
  await report(stage, { saleId: sale.paymentId, reported: 'chargeback' })
}

/** A gateway on the way repeats the sale long after it was answered; the network books it once more, and says so. */
export async function sellTwice(stage: Stage, paymentId: string): Promise<void> {
  const { world, installation } = stage
  const { ledger } = installation.network
  const sales = ledger.ofOrder(orderIdOf(paymentId))
  const isLive = ({ status }: LedgerSale): boolean =>
    status === LedgerStatus.authorised || status === LedgerStatus.captured
  const sale = sales.find(found => isLive(found) && found.voidedAmount === 0)
  // One that the network never voids would be looked at for ever.
  const isVoidable = (sale?.capturedAmount || sale?.amount) !== misbehavingAmounts.voidRejected
  if (sale === undefined || sales.length > 1 || !isVoidable) return
  world.note('sale booked twice')
  const saleId = `${sale.paymentId.slice(0, -1)}${sale.paymentId.endsWith('0') ? '1' : '0'}`
  ledger.book({ ...sale, paymentId: saleId, chargebackCase: null })
  await report(stage, { saleId, reported: 'change' })
}

export async function tokenise({ world, installation, client, outside }: Stage, number: string): Promise<string> {
  const tokens = createTokenStore(installation.connect(outside, installation.secrets))
  const tokenId = newTokenId()
  const card = { number, holderName: 'MARIA DA SILVA', expirationMonth: '07', expirationYear: '2031' }
  const token = {
    tokenId,
    merchantId: client.id,
    brand: 'visa',
    last4: number.slice(-4),
    expirationMonth: card.expirationMonth,
    expirationYear: card.expirationYear,
    holderName: card.holderName,
    cardBox: JSON.stringify(card),
    typedBox: JSON.stringify({ ...card, cvv: '123' })
  }
  await untilDone(world, () => tokens.put(token, 15 * 60_000))
  return tokenId
}

export function aRequest(name: string, tokenId: string, amountCents: number, isManual: boolean): CreateRequest {
  return {
    terms: {
      externalReference: name,
      captureMode: isManual ? 'manual' : 'auto',
      amountCents,
      currency: 'BRL',
      installments: 1,
      ...noTexts,
      customer: BUYER,
      metadata: null
    },
    buyer: { ...buyer, ...BUYER },
    source: { type: 'token', tokenId },
    cvv: null
  }
}
