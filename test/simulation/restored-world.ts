/**
 * One run in which the durable data goes back: a copy of it, made while payments are in flight, takes its place some seconds
 * later, and an operator accepts it. What the acquirer has booked stays.
 */
import { orderIdOf } from '../../machines/network.js'
import { knownVoidedCents } from '../../machines/payment/amounts.js'
import { CALL_MAX_MS } from '../../machines/payment/wake-ups.js'
import { keys, partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import type { LedgerSale } from '../../scripts/simulator/ledger.js'
import { NO_FAULTS } from './faults.js'
import { readFinalState } from './final-state.js'
import { inside } from './globals.js'
import type { Mutant } from './mutants.js'
import { acceptRestored, copyOf, putBack } from './restored-data.js'
import { isAtRest, PEACE_MAX_MS, quietUntilMs, type RunResult, registerWebhooks } from './run-world.js'
import { Installation } from './simulated-installation.js'
import { MerchantClient, type RequestRecord } from './simulated-merchant.js'
import { MERCHANT_IDS } from './simulated-mover.js'
import { type Stage, untilDone } from './stage.js'
import { aRequest, tokenise } from './story.js'
import { Process, World } from './world.js'

const AMOUNT_CENTS = 10_000
/** So small that no sum of refunds which were asked for comes near the amount. */
const PART_CENTS = 1_000
const STORIES = 5
const REFUNDS_MAX = 3
const PAUSE_MEAN_MS = 2_500
const COPIED_BEFORE_MS = 12_000
const LOST_MAX_MS = 9_000
const WORKERS_AWAY_MS = 2_000
const KILLING = 0.3
const KILL = 0.004

export interface RestoredOptions {
  readonly seed: number
  readonly mutant?: Mutant | null
  readonly trace?: (line: string) => void
}

/** Runs a seed; the same seed gives the same run. Rejects only for a mistake of the simulation itself. */
export async function runRestoredSeed({ seed, mutant = null, trace }: RestoredOptions): Promise<RunResult> {
  const world = new World(seed, trace ?? null)
  return await inside(world, () => runWorld(world, seed, mutant))
}

async function runWorld(world: World, seed: number, mutant: Mutant | null): Promise<RunResult> {
  const { random } = world
  const installation = new Installation(
    world,
    { ...NO_FAULTS, kill: random.chance(KILLING) ? KILL : 0, late: 0.2, dropAfter: 0.1 },
    mutant
  )
  const authorised = new Map<string, number>()
  installation.network.onSent = ({ method, body }) => {
    const orderId = /"MerchantOrderId":"([^"]+)"/.exec(body ?? '')?.[1]
    if (method === 'POST' && orderId !== undefined) authorised.set(orderId, (authorised.get(orderId) ?? 0) + 1)
  }
  const outside = new Process('outside', true)
  const merchants = MERCHANT_IDS.map(id => new MerchantClient(world, installation, outside, id))
  registerWebhooks(installation, merchants)
  installation.start({ payments: 2, api: 1, timers: 1, webhooks: 1 })
  for (let story = 0; story < STORIES; story++) {
    const client = merchants[story % merchants.length]
    if (client !== undefined)
      world.spawn(outside, () => void play({ world, installation, client, outside }, `p${story}`))
  }
  const isAccepted = goBack(world, installation, outside)
  await world.turn(isAccepted, COPIED_BEFORE_MS + LOST_MAX_MS + 2 * WORKERS_AWAY_MS)
  const backMs = world.nowMs
  Object.assign(installation.faults, NO_FAULTS)
  world.quietUntilMs = () => quietUntilMs(installation, merchants)
  const hasEnded = await world.turn(() => isAtRest(installation) && isOver(world), PEACE_MAX_MS + CALL_MAX_MS)
  const records = merchants.flatMap(merchant => merchant.records)
  const violations = [
    ...(hasEnded ? [] : ['not at rest: long after everything']),
    ...auditRestored(installation, records, backMs),
    ...[...authorised].flatMap(([orderId, times]) => (times > 1 ? [`authorised ${times} times: ${orderId}`] : [])),
    ...(installation.hasComeBack ? [] : ['the data did not come back'])
  ]
  const requests = records.reduce((sum, record) => sum + record.requests, 0)
  return { seed, violations, counts: world.counts, payments: STORIES, requests, events: world.events }
}

/** Beyond the last request of a story that goes on. */
function isOver({ elapsedMs }: World): boolean {
  return elapsedMs > PEACE_MAX_MS / 2
}

/** Copies the data, and puts the copy in its place. Answers whether an operator has accepted it. */
function goBack(world: World, installation: Installation, outside: Process): () => boolean {
  const { random } = world
  const { durable, config } = installation
  let isAccepted = false
  world.after(random.between(1_000, COPIED_BEFORE_MS), null, () => {
    const copy = copyOf(durable.data)
    world.after(random.between(200, LOST_MAX_MS), null, () => {
      world.note('data went back')
      durable.kill()
      putBack(durable.data, copy)
      installation.sendWorkersAway(WORKERS_AWAY_MS)
      for (const process of installation.living()) process.kill()
      installation.hasComeBack = true
      durable.restart()
      world.spawn(outside, () => {
        const redis = installation.connect(outside, durable)
        void untilDone(world, () => acceptRestored(redis, config.partitions, world.nowMs)).then(() => {
          isAccepted = true
        })
      })
    })
  })
  return () => isAccepted
}

/** A charge or a hold that is captured, and small refunds of it. */
async function play(stage: Stage, name: string): Promise<void> {
  const { world, client } = stage
  const { random } = world
  await world.pause(random.exponential(PAUSE_MEAN_MS))
  const tokenId = await tokenise(stage, '4024007153760060')
  const isManual = random.chance(0.4)
  const created = await client.create(`${name}-create`, aRequest(name, tokenId, AMOUNT_CENTS, isManual))
  if (created.paymentId === null || created.result?.kind !== 'succeeded') return
  const operate = async (kind: 'capture' | 'cancel', step: number, cents: number | null): Promise<void> => {
    await world.pause(random.exponential(PAUSE_MEAN_MS))
    if (created.paymentId !== null) await client.operate(kind, `${name}-${kind}-${step}`, created.paymentId, cents)
  }
  if (isManual) await operate('capture', 0, null)
  for (let step = 1; step <= random.between(0, REFUNDS_MAX); step++) await operate('cancel', step, PART_CENTS)
}

/** Nothing is captured, refunded or voided that no merchant asked for, and what differs is listed. */
function auditRestored(installation: Installation, records: readonly RequestRecord[], backMs: number): string[] {
  const { payments, ledger } = readFinalState(installation)
  const partsOf = (paymentId: string): number =>
    records.filter(({ kind, paymentId: id }) => kind === 'cancel' && id === paymentId).length
  const known = new Map([...payments.keys()].map(id => [orderIdOf(id), id]))
  const told = new Map(records.flatMap(({ paymentId: id }) => (id === null ? [] : [[orderIdOf(id), id] as const])))
  const problems: string[] = []
  for (const sale of ledger.sales()) {
    const id = told.get(sale.merchantOrderId) ?? known.get(sale.merchantOrderId)
    if (id === undefined) continue
    const askedCents = PART_CENTS * partsOf(id)
    const isVoided = sale.capturedAmount > 0 && sale.voidedAmount > askedCents
    if (isVoided) problems.push(`refunded more than asked: ${id} ${sale.voidedAmount} of ${askedCents}`)
    const payment = payments.get(id)
    // One that rests is compared when its next operation comes.
    const isCompared = (payment?.history.at(-1)?.atMs ?? 0) >= backMs
    if (payment !== undefined && isCompared && !isListed(installation, id) && !isEqual(sale, payment.progress)) {
      problems.push(`figures differ and it is not listed: ${id} ${payment.progress.status}`)
    }
  }
  return problems
}

function isEqual(
  sale: LedgerSale,
  progress: Parameters<typeof knownVoidedCents>[0] & { capturedCents: number }
): boolean {
  return (
    sale.capturedAmount === progress.capturedCents &&
    (sale.capturedAmount === 0 || sale.voidedAmount === knownVoidedCents(progress))
  )
}

function isListed({ durable }: Installation, paymentId: string): boolean {
  const list = durable.data.hash(keys.review(partitionOfPayment(paymentId)))
  return list?.has(paymentKeyOf(paymentId)) === true
}
