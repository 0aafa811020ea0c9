/** One run: a world from a seed, trouble for a while, then peace, and the audit when everything has come to rest. */
import { CALL_MAX_MS } from '../../machines/payment/wake-ups.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import { keys, partitionOf } from '../../redis/keys.js'
import { encodeEndpoint, type WebhookEndpoint } from '../../redis/webhooks/webhook-endpoints.js'
import { deliveryWork } from '../../redis/webhooks/webhook-queue.js'
import { audit } from './audit.js'
import { auditMoving } from './audit-archive.js'
import { resolveReviews } from './by-hand.js'
import { drawArchiveFaults, drawFaults, type Faults, NO_FAULTS } from './faults.js'
import { inside } from './globals.js'
import { type Mutant, type MutantName, mutants } from './mutants.js'
import { beginTrouble, outliveTrouble, STORIES_IN_TROUBLE, TROUBLE_BEGINS_AFTER_MS } from './network-trouble.js'
import { outliveOutage, takeSecretsAway } from './secrets-away.js'
import { Installation } from './simulated-installation.js'
import { MerchantClient } from './simulated-merchant.js'
import { MERCHANT_IDS, nextMoveMs } from './simulated-mover.js'
import type { NetworkTrouble } from './simulated-network.js'
import { report } from './stage.js'
import { play } from './story.js'
import { beginTampering } from './tampering.js'
import { makeTrouble } from './trouble.js'
import { watchWrites } from './watch-writes.js'
import { Process, World } from './world.js'

export interface RunOptions {
  readonly seed: number
  readonly mutant?: MutantName
  /**
   * Each few seconds a replica takes over that has not got the last durable writes. `unconfirmed`: what no WAIT can cost.
   * `confirmed`: writes that count wait for it.
   */
  readonly failover?: 'unconfirmed' | 'confirmed'
  /** Streams and their groups are changed by hand, while workers die (tampering.ts). */
  readonly isTampered?: boolean
  /** Sales change without the service: people in the acquirer's portal, and a network that makes up its mind later. */
  readonly isTouched?: boolean
  /** Long trouble of the whole card network; a mutant may need it to show. */
  readonly trouble?: NetworkTrouble
  /** `lockless`: no payment is ever locked. `away`: the memory-only Redis is, for longer than a new payment may wait. */
  readonly secrets?: 'lockless' | 'away'
  /** Whether payments leave Redis when they have rested; else a share of the worlds has an archive. */
  readonly hasArchive?: boolean
  /** Gets every line of what happens. */
  readonly trace?: (line: string) => void
}

export interface RunResult {
  readonly seed: number
  readonly violations: readonly string[]
  /** What was done to the world, by kind. */
  readonly counts: ReadonlyMap<string, number>
  readonly payments: number
  readonly requests: number
  readonly events: number
}

const TROUBLE_MS = 30_000
/** Commands that a failover without WAIT may lose. */
const FAILOVER_LOSES_MAX = 12
const BY_HAND = 0.25
const UNFINISHED = 0.15
const OWN_REPORTED = 0.5
const AWAKE_MS = 1_000
/** One world of so many has an archive. */
const ARCHIVE_EVERY = 10
/** Time for payments to leave, to come back, to change and to leave again several times; nearly all of it is skipped (ms). */
const ARCHIVE_TROUBLE_MS = 24 * 3_600_000
/** A world whose trouble keeps it from a quiet time would take minutes. */
const ARCHIVE_TROUBLE_EVENTS = 12_000
/** Merchants come back up to three times when their payment is about to leave, each time a day later. */
const ARCHIVE_PEACE_MAX_MS = 4 * 24 * 3_600_000
/** Until a call counts as lost, and then as for all others (ms). */
const TAMPERED_PEACE_MAX_MS = 2 * CALL_MAX_MS
/** Beyond every wake-up that a payment can have. */
export const PEACE_MAX_MS = 900_000

/** Runs a seed; the same seed gives the same run. Rejects only for a mistake of the simulation itself. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const { seed, failover, isTouched, trace } = options
  const world = new World(seed, trace ?? null)
  const faults = drawFaults(world.random)
  if (failover !== undefined) faults.failoverLoses = FAILOVER_LOSES_MAX
  const hasArchive = options.hasArchive ?? mayHaveArchive(options)
  if (hasArchive) Object.assign(faults, drawArchiveFaults(world.random))
  if (isTouched) Object.assign(faults, { byHand: BY_HAND, unfinished: UNFINISHED })
  return await inside(world, () => runWorld(world, faults, { ...options, hasArchive }))
}

/** Worlds with long trouble of another kind would last for very long. */
function mayHaveArchive({ seed, failover, isTampered, trouble, secrets, mutant }: RunOptions): boolean {
  const planted: Mutant | null = mutant === undefined ? null : mutants[mutant]
  if (failover !== undefined || isTampered || secrets !== undefined || (trouble ?? planted?.trouble) !== undefined)
    return false
  return planted?.archive !== undefined || seed % ARCHIVE_EVERY === 0
}

async function runWorld(world: World, faults: Faults, options: RunOptions): Promise<RunResult> {
  const { seed, secrets, hasArchive = false } = options
  const mutant: Mutant | null = options.mutant === undefined ? null : mutants[options.mutant]
  const trouble = options.trouble ?? mutant?.trouble
  const { random } = world
  const installation = new Installation(world, faults, mutant, {
    isLockless: secrets === 'lockless',
    hasArchive,
    isTampered: options.isTampered === true,
    isReplicated: options.failover === 'confirmed'
  })
  const violations = new Set<string>()
  watchWrites(installation, violations)
  const outside = new Process('outside', true)
  const merchants = MERCHANT_IDS.map(id => new MerchantClient(world, installation, outside, id))
  registerWebhooks(installation, merchants)
  installation.start({
    // With an archive one of a kind may sleep for hours.
    payments: hasArchive ? 2 : random.between(1, 3),
    api: hasArchive ? 2 : random.between(1, 2),
    timers: random.between(1, 2),
    webhooks: 2,
    archive: hasArchive ? 2 : 0
  })

  const early = random.between(2, 7)
  const stories = early + (trouble === undefined ? 0 : STORIES_IN_TROUBLE[trouble])
  let ended = 0
  const begin = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const client = merchants[i % merchants.length]
      if (client === undefined) continue
      void play({ world, installation, client, outside }, `p${i}`).then(() => ended++)
    }
  }
  world.spawn(outside, () => begin(0, early))
  if (stories > early) world.after(TROUBLE_BEGINS_AFTER_MS, outside, () => begin(early, stories))
  if (faults.byHand > 0) touchSales(world, installation, outside)
  makeTrouble(world, installation, faults)
  const tampering = options.isTampered ? beginTampering(world, installation) : { isOver: true }
  if (trouble !== undefined) beginTrouble(world, installation, trouble)
  if (secrets === 'away') takeSecretsAway(world, installation)
  if (hasArchive) world.quietUntilMs = () => quietUntilMs(installation, merchants)
  const isOver = (): boolean => hasArchive && (ended === stories || world.events > ARCHIVE_TROUBLE_EVENTS)
  await world.turn(isOver, hasArchive ? ARCHIVE_TROUBLE_MS : TROUBLE_MS)
  tampering.isOver = true
  makePeace(world, installation, faults)
  if (secrets === 'away') for (const problem of await outliveOutage(world, installation)) violations.add(problem)
  world.quietUntilMs = () => quietUntilMs(installation, merchants)
  if (trouble !== undefined) {
    for (const problem of await outliveTrouble(world, installation, trouble)) violations.add(problem)
  }
  const isDone = (): boolean => ended === stories && isAtRest(installation) && isEverybodyAwake(world, installation)
  const peaceMs = options.isTampered ? TAMPERED_PEACE_MAX_MS : PEACE_MAX_MS
  const hasEnded = await world.turn(isDone, hasArchive ? ARCHIVE_PEACE_MAX_MS : peaceMs)
  if (!hasEnded) violations.add(`not at rest long after the last fault; ${ended} of ${stories} stories have ended`)
  if (hasArchive) {
    for (const problem of await auditMoving(world, installation, outside, merchants)) violations.add(problem)
  }
  for (const problem of audit(installation, merchants)) violations.add(problem)
  for (const error of installation.errors) violations.add(`a worker logged an error: ${error}`)
  return {
    seed,
    violations: [...violations],
    counts: world.counts,
    payments: stories,
    requests: merchants.flatMap(merchant => merchant.records).reduce((sum, record) => sum + record.requests, 0),
    events: world.events
  }
}

/** People work beside the service, and the network reports what the service did itself, like everything else. */
function touchSales(world: World, installation: Installation, outside: Process): void {
  world.spawn(outside, () => void resolveReviews(world, installation, outside))
  installation.network.onBooked = saleId => {
    if (!world.random.chance(OWN_REPORTED)) return
    world.spawn(outside, () => void report({ world, installation, outside }, { saleId, reported: 'change' }))
  }
}

/** Gives each merchant an endpoint, in the form that redis/webhooks/webhook-endpoints.ts stores. */
export function registerWebhooks({ durable, config }: Installation, merchants: readonly { id: string }[]): void {
  for (const { id } of merchants) {
    const endpoint: WebhookEndpoint = {
      url: `https://${id}.example/events`,
      seed: { keyId: 'key', salt: 'salt' },
      previous: [],
      updatedAtMs: 0,
      offSinceMs: null
    }
    const key = keys.webhookEndpoint(partitionOf(id, config.partitions), id)
    durable.execute(['SET', key, encodeEndpoint(endpoint)], () => undefined)
  }
}

/** From here on nothing goes wrong any more. Suspended processes resume by themselves. */
function makePeace(world: World, { durable, secrets, archive }: Installation, faults: Faults): void {
  world.trace('peace', '')
  Object.assign(faults, NO_FAULTS)
  if (archive !== null) archive.awayUntilMs = 0
  for (const server of [durable, secrets]) {
    server.clockAheadMs = 0
    server.restart()
  }
}

/** While no request is open and no command or fresh event waits, the next wake-up or retry is the next thing that matters. */
export function quietUntilMs(installation: Installation, merchants: readonly MerchantClient[]): number | null {
  const { durable, config } = installation
  if ((durable.data.zset(keys.notifications())?.size ?? 0) > 0) return null
  if (merchants.some(merchant => merchant.openCalls > 0)) return null
  let nextMs = nextMoveMs(installation)
  for (let partition = 0; partition < config.partitions; partition++) {
    if ((durable.data.stream(keys.commands(partition))?.entries.size ?? 0) > 0) return null
    if ((durable.data.stream(keys.deliveries(partition))?.entries.size ?? 0) > 0) return null
    for (const wakeUps of wakeUpsOf(partition)) {
      for (const dueMs of durable.data.zset(wakeUps)?.values() ?? []) nextMs = Math.min(nextMs, dueMs)
    }
  }
  return nextMs
}

/** A process suspended until the end could do no harm: so all run, and have had time to act on what they held. */
export function isEverybodyAwake({ nowMs }: World, installation: Installation): boolean {
  return installation.living().every(process => process.sleepsUntilMs + AWAKE_MS < nowMs)
}

export function isAtRest(
  { durable, config }: Installation,
  isLeft: (paymentKey: string) => boolean = () => false
): boolean {
  if ((durable.data.zset(keys.notifications())?.size ?? 0) > 0) return false
  for (let partition = 0; partition < config.partitions; partition++) {
    for (const { stream, group } of [paymentWork, deliveryWork]) {
      const found = durable.data.stream(stream(partition))
      if ((found?.entries.size ?? 0) > 0 || (found?.groups.get(group)?.pending.size ?? 0) > 0) return false
    }
    for (const wakeUps of wakeUpsOf(partition)) {
      if ([...(durable.data.zset(wakeUps)?.keys() ?? [])].some(member => !isLeft(member))) return false
    }
  }
  return true
}

/** The lists of a partition whose times become commands. */
function wakeUpsOf(partition: number): string[] {
  const lists = [keys.due, keys.reconcile, keys.webhookLines]
  return lists.map(list => list(partition))
}
