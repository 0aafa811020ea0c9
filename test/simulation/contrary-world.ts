/**
 * One run against an acquirer that contradicts itself (test/support/contrary-acquirer.ts): few faults besides, so that
 * what is found can be ascribed to it. An operator works off the list. Then the audit.
 */
import { keys } from '../../redis/keys.js'
import { decodePayment } from '../../redis/payments/payment-record.js'
import { ContraryAcquirer } from '../support/contrary-acquirer.js'
import { type ContraryKind, contraryKinds } from '../support/contrary-kinds.js'
import { Wire } from '../support/contrary-wire.js'
import { auditContrary } from './audit-contrary.js'
import { auditIndexes } from './audit-indexes.js'
import { auditUndelivered, auditWebhooks } from './audit-webhooks.js'
import type { ContraryWorld } from './contrary-books.js'
import { Lives } from './contrary-lives.js'
import { concludeListed } from './contrary-operator.js'
import { playContrary } from './contrary-story.js'
import { NO_FAULTS } from './faults.js'
import { readFinalState } from './final-state.js'
import { inside } from './globals.js'
import { noteKnownSale } from './known-sale.js'
import type { Mutant } from './mutants.js'
import { isAtRest, isEverybodyAwake, quietUntilMs, type RunResult, registerWebhooks } from './run-world.js'
import { Installation } from './simulated-installation.js'
import { MerchantClient } from './simulated-merchant.js'
import { MERCHANT_IDS } from './simulated-mover.js'
import { report } from './stage.js'
import { Process, World } from './world.js'

export interface ContraryOptions {
  readonly seed: number
  /** This kind alone; else one or two are drawn. */
  readonly kind?: ContraryKind
  readonly mutant?: Mutant | null
  readonly trace?: (line: string) => void
}

/** A fifteenth of the real one, as is the horizon of simulated worlds. */
const LIST_AFTER_MS = (72 * 3_600_000) / 15
const LASTS_MAX_MS = 4 * LIST_AFTER_MS
/** A hold lasts for longer than most doubts about it, and less long than the world. */
const SETTINGS = {
  environment: 'live',
  reconcileListAfterMs: LIST_AFTER_MS,
  preauthTtlDays: { days: 1 / 64, byName: {} }
} as const
/** Merchants repeat a request less and less often (ms). */
const PATIENCE_MS = 900_000
const PAYMENTS_MIN = 2
const PAYMENTS_MAX = 5
/** The share of an acquirer's sales that a kind befalls: most calls are answered as they should be. */
const SHARE = 0.7
/** An acquirer that leaves a field out does so in the whole account. */
const OF_THE_ACCOUNT: ContraryKind = 'never shows what is voided'
const TWO_KINDS = 0.6
const KILLING = 0.25
const KILL = 0.004
const FOREIGN = 0.3

/** Runs a seed; the same seed gives the same run. Rejects only for a mistake of the simulation itself. */
export async function runContrarySeed(options: ContraryOptions): Promise<RunResult> {
  const world = new World(options.seed, options.trace ?? null)
  return await inside(world, () => runWorld(world, options))
}

async function runWorld(world: World, { seed, kind, mutant = null }: ContraryOptions): Promise<RunResult> {
  const { random } = world
  const kinds = kind === undefined ? drawKinds(world) : [kind]
  for (const drawn of kinds) world.note(`contrary: ${drawn}`)
  const outside = new Process('outside', true)
  const network = outsideNetwork(world, outside, saleId =>
    report({ world, installation, outside }, { saleId, reported: 'change' })
  )
  const { acquirer } = network
  const faults = { ...NO_FAULTS, kill: random.chance(KILLING) ? KILL : 0 }
  const installation = new Installation(world, faults, mutant, { acquirer, settings: SETTINGS })
  acquirer.kinds = kinds.map(drawn => ({ kind: drawn, share: drawn === OF_THE_ACCOUNT ? 1 : SHARE }))
  const voidedShown = kinds.includes(OF_THE_ACCOUNT) ? 'never' : 'above_zero'
  noteKnownSale(installation.durable, installation.config.networkMerchantId, voidedShown)
  const watched = watch(world, installation)
  const merchants = MERCHANT_IDS.map(id => new MerchantClient(world, installation, outside, id))
  for (const merchant of merchants) merchant.patienceMs = PATIENCE_MS
  registerWebhooks(installation, merchants)
  installation.start({ payments: 2, api: 1, timers: 1, webhooks: 1 })
  const conclusions = concludeListed(world, installation, outside, { acquirer, lives: watched.lives })
  const stories = random.between(PAYMENTS_MIN, PAYMENTS_MAX)
  let ended = 0
  for (const [index, client] of merchants.entries()) {
    for (let story = index; story < stories; story += merchants.length) {
      const stage = { world, installation, client, outside }
      world.spawn(outside, () => void playContrary(stage, `p${story}`).then(() => ended++))
    }
  }
  if (random.chance(FOREIGN)) network.notifyOfForeign()
  world.quietUntilMs = () => quietUntilMs(installation, merchants)
  const isDone = (): boolean =>
    ended === stories &&
    network.planned() === 0 &&
    isAtRest(installation, paymentKey => isLeftToOperators(installation, paymentKey)) &&
    isEverybodyAwake(world, installation)
  const hasEnded = await world.turn(isDone, LASTS_MAX_MS)
  const records = merchants.flatMap(merchant => merchant.records)
  const violations = [
    ...(hasEnded ? auditRest(installation) : ['not at rest: long after everything']),
    ...auditContrary({
      acquirer,
      looks: acquirer.looks,
      ...watched,
      conclusions,
      records,
      listAfterMs: LIST_AFTER_MS,
      endedMs: world.nowMs
    }),
    ...merchants.flatMap(({ complaints }) => complaints.map(line => `complaint: ${line}`)),
    ...installation.errors.map(error => `error logged: ${error}`)
  ]
  const requests = records.reduce((sum, record) => sum + record.requests, 0)
  return { seed, violations, counts: world.counts, payments: stories, requests, events: world.events }
}

/** A notification that no record ever explains: the payment is listed, nothing of it is in doubt, and it is queried more and more seldom. */
function isLeftToOperators({ durable, config }: Installation, paymentKey: string): boolean {
  const partitions = Array.from({ length: config.partitions }, (_, partition) => partition)
  const [text] = partitions.flatMap(partition => durable.data.text(keys.payment(partition, paymentKey)) ?? [])
  if (text === undefined) return false
  const { reviewReason, reconciliation, verification } = decodePayment(text, paymentKey).progress
  return reviewReason === 'unresolved_for_long' && reconciliation === null && verification !== null
}

function drawKinds({ random }: World): ContraryKind[] {
  const draw = (): ContraryKind => contraryKinds[random.between(0, contraryKinds.length - 1)] ?? 'loses answers'
  const [first, second] = [draw(), draw()]
  return random.chance(TWO_KINDS) && second !== first ? [first, second] : [first]
}

/** The acquirer, and what it has still planned: late decisions and notifications. */
function outsideNetwork(world: World, outside: Process, post: (saleId: string) => Promise<void>) {
  let planned = 0
  const notify = (saleId: string): void => {
    planned++
    world.spawn(outside, () => void post(saleId).then(() => planned--))
  }
  const later = (delayMs: number, run: () => void): void => {
    planned++
    world.after(delayMs, outside, () => {
      planned--
      run()
    })
  }
  const acquirer = new ContraryAcquirer({ nowMs: () => world.nowMs, later, notify, dice: world.random })
  /** Of a sale that another system made in the same account. */
  const notifyOfForeign = (): void => {
    const saleId = '0badcafe-0000-4000-8000-0badcafe0000'
    const amounts = { askedCents: 500, amountCents: 500, capturedCents: 500, voidedCents: 0 }
    const terms = { orderId: 'SHOP1', isCaptureAsked: true, status: Wire.captured, currency: 'BRL', kinds: [] }
    acquirer.book({ saleId, atMs: world.nowMs, ...terms, ...amounts })
    later(world.random.between(0, 60_000), () => notify(saleId))
  }
  return { acquirer, notifyOfForeign, planned: () => planned }
}

/** Notes what the service writes, and when it sends voids. */
function watch(world: World, installation: Installation): Pick<ContraryWorld, 'lives' | 'voidsSentMs'> {
  const lives = new Lives(world)
  const voidsSentMs = new Map<string, number[]>()
  installation.durable.watch = args => {
    lives.note(args)
    installation.written.note(args)
  }
  installation.network.onSent = ({ method, path }) => {
    const saleId = method === 'PUT' ? /^\/1\/sales\/([^/]+)\/void/.exec(path)?.[1] : undefined
    if (saleId !== undefined) voidsSentMs.set(saleId, [...(voidsSentMs.get(saleId) ?? []), world.nowMs])
  }
  return { lives, voidsSentMs }
}

/** What holds of every world that has come to rest. */
function auditRest(installation: Installation): string[] {
  const state = readFinalState(installation)
  const problems = [
    ...auditIndexes(state),
    ...auditUndelivered(state),
    ...[...state.payments.values()].flatMap(payment => auditWebhooks(state, payment))
  ]
  return problems.map(problem => `at rest: ${problem}`)
}
