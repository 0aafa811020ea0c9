/** One short life of a payment for each operation, for runs in which a process dies at a chosen point. */
import type { CommandResult } from '../../machines/commands.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { requestErasure } from '../../redis/operator/review.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import { captureByHand } from './by-hand.js'
import { nextLookMs } from './simulated-mover.js'
import { type Stage, untilDone } from './stage.js'
import { aRequest, BUYER, chargeBack, sellTwice, tokenise } from './story.js'

const APPROVED = '4024007153760060'
const DECLINED = '4024007153760052'
/** Authorised, and the answer is lost. */
const SILENT = '4024007153760029'

/** Plays a life; the result of each request is audited afterwards. */
type Scenario = (stage: Stage) => Promise<void>

export const scenarios = {
  'create with capture': async stage => void (await create(stage, {})),
  'create while all workers are away': async stage => {
    stage.installation.sendWorkersAway(AWAY_MS)
    await create(stage, {})
  },
  'create, declined': async stage => void (await create(stage, { card: DECLINED })),
  reconciliation: async stage => void (await create(stage, { card: SILENT })),
  'reconciliation of a hold, then its expiry': async stage =>
    void (await create(stage, { card: SILENT, isManual: true })),
  expiry: async stage => void (await create(stage, { isManual: true })),
  capture: async stage => operate(stage, await create(stage, { isManual: true }), ['capture', 4_000]),
  'capture whose answer is lost': async stage =>
    operate(stage, await create(stage, { isManual: true }), ['capture', 993]),
  'capture while the receiver of webhooks is away': async stage => {
    const paymentId = await create(stage, { isManual: true })
    // Another process sends what a suspended one had in its hands, before the next events wait.
    await stage.world.pause(SETTLED_AFTER_MS)
    stage.installation.receivers.awayUntilMs = stage.world.nowMs + RECEIVER_AWAY_MS
    await operate(stage, paymentId, ['capture', 4_000])
  },
  cancel: async stage => operate(stage, await create(stage, { isManual: true }), ['cancel', null]),
  'refunds in parts': async stage => operate(stage, await create(stage, {}), ['cancel', 2_000], ['cancel', null]),
  'refund whose answer is lost': async stage => operate(stage, await create(stage, {}), ['cancel', 994]),
  'refused operations': async stage => operate(stage, await create(stage, {}), ['capture', 1_000], ['cancel', 992]),
  'a command that no worker can end': async stage => void (await create(stage, {})),
  'a network out of reach, then another key': async stage => {
    const tokenId = await tokenise(stage, APPROVED)
    for (const key of ['create', 'create again']) {
      await stage.client.create(key, aRequest('order', tokenId, AMOUNT_CENTS, false))
    }
  },
  'notification of a chargeback': async stage => {
    const paymentId = await create(stage, {})
    if (paymentId !== null) await chargeBack(stage, paymentId)
  },
  'expiry of a hold that is captured by hand while its release is late': async stage => {
    const paymentId = await create(stage, { isManual: true })
    if (paymentId === null) return
    await untilExpired(stage, paymentId)
    await captureByHand(stage, paymentId)
  },
  'notification of a second sale': async stage => {
    const paymentId = await create(stage, {})
    if (paymentId !== null) await sellTwice(stage, paymentId)
  },
  'refund of an archived payment, which leaves again': async stage => {
    const paymentId = await createArchived(stage)
    if (paymentId === null) return
    await operate(stage, paymentId, ['cancel', 2_000])
    await untilArchived(stage, paymentId)
  },
  'notification of a chargeback of an archived payment': async stage => {
    const paymentId = await createArchived(stage)
    if (paymentId === null) return
    await chargeBack(stage, paymentId)
    await untilArchived(stage, paymentId)
  },
  'erasure of the buyer of an archived payment': async stage => {
    const paymentId = await createArchived(stage)
    if (paymentId === null) return
    const redis = stage.installation.connect(stage.outside, stage.installation.durable)
    await untilDone(stage.world, () => requestErasure(redis, paymentId))
    while (isNamed(stage, paymentId)) await stage.world.pause(500)
    await untilArchived(stage, paymentId)
    // One that names the buyer again is never at its end.
    while (isNamed(stage, paymentId)) await stage.world.pause(DAY_MS)
  }
} as const satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof scenarios

/** Whether it is played with an archive. */
export function needsArchive(name: ScenarioName): boolean {
  return name.includes('archived')
}

const AMOUNT_CENTS = 10_000
/** Three times as long as a new payment may wait for a worker: a worker that sleeps in the aftermath sends none either. */
const AWAY_MS = 60_000
const SETTLED_AFTER_MS = 6_000
/** Longer than a process is suspended (crash-matrix.ts). */
const RECEIVER_AWAY_MS = 20_000
const DAY_MS = 24 * 3_600_000

/** The id of the payment, unless its creation failed. */
async function create(
  stage: Stage,
  { card = APPROVED, isManual = false }: { card?: string; isManual?: boolean }
): Promise<string | null> {
  const tokenId = await tokenise(stage, card)
  const { result, paymentId } = await stage.client.create('create', aRequest('order', tokenId, AMOUNT_CENTS, isManual))
  return isSuccess(result) ? paymentId : null
}

async function createArchived(stage: Stage): Promise<string | null> {
  const paymentId = await create(stage, {})
  if (paymentId !== null) await untilArchived(stage, paymentId)
  return paymentId
}

async function untilArchived({ world, installation }: Stage, paymentId: string): Promise<void> {
  const lookMs = (): number | null => nextLookMs(installation, paymentKeyOf(paymentId))
  for (let atMs = lookMs(); atMs !== null; atMs = lookMs()) await world.pause(Math.max(0, atMs - world.nowMs) + 1_000)
}

/** Whether one of both stores has the buyer's name. */
function isNamed({ installation }: Stage, paymentId: string): boolean {
  const key = keys.payment(partitionOfPayment(paymentId), paymentKeyOf(paymentId))
  const records = [installation.durable.data.text(key), installation.archive?.rows.rows.get(paymentId)]
  return records.some(record => record?.includes(BUYER.name))
}

async function operate(
  stage: Stage,
  paymentId: string | null,
  ...operations: readonly (readonly ['capture' | 'cancel', number | null])[]
): Promise<void> {
  if (paymentId === null) return
  for (const [index, [kind, amountCents]] of operations.entries()) {
    await stage.client.operate(kind, `operation ${index}`, paymentId, amountCents)
  }
}

async function untilExpired({ world, installation }: Stage, paymentId: string): Promise<void> {
  const key = keys.payment(partitionOfPayment(paymentId), paymentKeyOf(paymentId))
  const isExpired = (): boolean => {
    const text = installation.durable.data.text(key)
    return text !== null && decodePayment(text, paymentKeyOf(paymentId)).progress.status === 'expired'
  }
  // Time in which the outside has nothing planned is skipped: that makes such a life a hundred times shorter.
  await world.pause(installation.config.preauthTtlDays.days * DAY_MS)
  while (!isExpired()) await world.pause(500)
}

function isSuccess(result: CommandResult | null): boolean {
  return result?.kind === 'succeeded'
}
