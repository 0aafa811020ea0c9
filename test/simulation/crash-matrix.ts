/**
 * Every operation, with a death at every point of its way: first a run without a death, which tells the points that
 * the operation passes, then one run for each of them. What only a death brings about, such as giving back what the dead
 * one held, is tried with a second death in the same life.
 */
import { endlessLease } from '../../workers/network/leases.js'
import { armNamedPoints, type CrashPoint } from '../support/crash-steps.js'
import { audit } from './audit.js'
import { auditMoving } from './audit-archive.js'
import { NO_FAULTS } from './faults.js'
import { inside } from './globals.js'
import type { Mutant } from './mutants.js'
import { isAtRest, isEverybodyAwake, PEACE_MAX_MS, quietUntilMs, registerWebhooks } from './run-world.js'
import { needsArchive, type ScenarioName, scenarios } from './scenarios.js'
import { Installation } from './simulated-installation.js'
import { MerchantClient } from './simulated-merchant.js'
import { watchWrites } from './watch-writes.js'
import { Process, World } from './world.js'

/** A life with its deaths (or sleeps): each at the `hit`th point that any process passed. */
export interface Deaths {
  readonly scenario: ScenarioName
  readonly hits: readonly number[]
  readonly points: readonly CrashPoint[]
  readonly violations: readonly string[]
}

interface Life {
  readonly points: readonly CrashPoint[]
  readonly violations: readonly string[]
}

/** Steps that are taken all the time; only those next to another step are of interest. */
const POLLS: readonly string[] = ['read_commands', 'take_notifications']
/** Steps that follow a death. */
const AFTERMATH: readonly string[] = ['requeue', 'drop_consumer']
const MERCHANT = 'm_one'
/** Enough for other workers to end what the suspended one began, lost answers included; far below the horizon. */
const SLEEP_MS = 12_000
/** Enough for others to bring a payment back, to change it, and to move it once more: it stays for an hour at least. */
const ARCHIVE_SLEEP_MS = 70 * 60_000
const ARCHIVE_STEPS: readonly string[] = ['archive.put', 'remove_payments', 'archive.takeBack', 'restore_payment']
/** Time for a payment to leave, to come back and to leave again, with a long sleep at any step (ms). */
const ARCHIVE_PEACE_MAX_MS = 24 * 3_600_000

/** What takes the most lives and finds the least. */
export interface Extent {
  /** Also lives with a second death in the aftermath of the first. */
  readonly hasSecondDeaths: boolean
  /**
   * The lives that were tried before. What a life has in common with the beginning of one of them is left out, and of the points
   * between the same steps all but the first and the last. Null: nothing is.
   */
  readonly tried: Tried | null
}

/** The points of lives, each without a blow. */
export type Tried = (readonly CrashPoint[])[]

/** Yields one life after the other. */
export async function* crashMatrix(
  names: readonly ScenarioName[],
  { hasSecondDeaths, tried }: Extent
): AsyncGenerator<Deaths> {
  for (const scenario of names) {
    const { points, violations } = await live(scenario, [])
    if (violations.length > 0) throw new Error(`${scenario} fails without a death: ${violations.join('; ')}`)
    for (const [hit, point] of hitsOfInterest(points, tried)) {
      const first = await live(scenario, [hit])
      yield { scenario, hits: [hit], points: [point], violations: first.violations }
      if (!hasSecondDeaths) continue
      for (const [second, next] of first.points.entries()) {
        if (second <= hit || !AFTERMATH.includes(stepOf(next))) continue
        const { violations } = await live(scenario, [hit, second])
        yield { scenario, hits: [hit, second], points: [point, next], violations }
      }
    }
  }
}

/**
 * Yields one life after the other, in each of which a process is suspended at another point, for so long that its lock
 * is gone and others have ended what it had in its hands when it goes on.
 */
export async function* sleepMatrix(
  name: ScenarioName,
  { mutant = null, tried = [] }: { mutant?: Mutant | null } & Partial<Extent> = {}
): AsyncGenerator<Deaths> {
  const { points } = await live(name, [], suspended)
  for (const [hit, point] of hitsOfInterest(points, tried)) {
    const { violations } = await live(name, [hit], suspended, mutant)
    yield { scenario: name, hits: [hit], points: [point], violations }
  }
}

/** What befalls a process at a point; resolves when it goes on. */
type Blow = (world: World, process: Process, point: CrashPoint) => Promise<void>

const dead: Blow = (_, process) => {
  process.kill()
  return new Promise(() => undefined)
}

const suspended: Blow = (world, process, point) => {
  process.sleepsUntilMs = world.nowMs + (ARCHIVE_STEPS.includes(stepOf(point)) ? ARCHIVE_SLEEP_MS : SLEEP_MS)
  return world.pause(0)
}

/** Plays a scenario to its rest; each process that comes to a point whose number is in `blowsAt` is struck there. */
async function live(
  name: ScenarioName,
  blowsAt: readonly number[],
  blow = dead,
  mutant: Mutant | null = null
): Promise<Life> {
  const world = new World(1, null)
  return await inside(world, async () => {
    const points: CrashPoint[] = []
    armNamedPoints(async point => {
      // What the outside does is no step of the service.
      if (world.current === null || world.current.isSafe) return
      points.push(point)
      if (blowsAt.includes(points.length - 1)) await blow(world, world.current, point)
    })
    try {
      return { points, violations: await play(world, name, mutant) }
    } finally {
      armNamedPoints(null)
    }
  })
}

async function play(world: World, name: ScenarioName, mutant: Mutant | null): Promise<string[]> {
  const outside = new Process('outside', true)
  const hasArchive = needsArchive(name)
  const trouble = planted[name]?.(world, outside) ?? mutant
  const installation = new Installation(world, NO_FAULTS, trouble, { hasArchive })
  const violations = new Set<string>()
  watchWrites(installation, violations)
  const client = new MerchantClient(world, installation, outside, MERCHANT)
  registerWebhooks(installation, [client])
  // The api that brings a payment back may sleep for hours: merchants then ask another one.
  const [api, archive] = hasArchive ? [2, 2] : [1, 0]
  installation.start({ payments: 2, api, timers: 1, webhooks: DELIVERERS[name] ?? 1, archive })
  let hasEnded = false
  world.spawn(outside, () => {
    void scenarios[name]({ world, installation, client, outside }).then(() => {
      hasEnded = true
    })
  })
  world.quietUntilMs = () => quietUntilMs(installation, [client])
  const isDone = (): boolean => hasEnded && isAtRest(installation) && isEverybodyAwake(world, installation)
  const isAtEnd = await world.turn(isDone, hasArchive ? ARCHIVE_PEACE_MAX_MS : PEACE_MAX_MS)
  if (!isAtEnd) violations.add('not at rest long after the last request')
  if (hasArchive)
    for (const problem of await auditMoving(world, installation, outside, [client])) violations.add(problem)
  const errors = installation.errors.filter(error => !error.includes(PLANTED))
  return [...violations, ...audit(installation, [client]), ...errors]
}

/** Where another process must take over what a suspended one was delivering. */
const DELIVERERS: Partial<Record<ScenarioName, number>> = { 'capture while the receiver of webhooks is away': 2 }
const PLANTED = 'planted'
/** Longer than it takes to ask what became of the call. */
const LATE_MS = 6_000

/** Each worker fails at the same place, until the command becomes a dead letter. */
const poisoned: Mutant = {
  description: 'No result of a create command can be written.',
  worker: deps => ({
    ...deps,
    commits: {
      ...deps.commits,
      commit: (write, partition) =>
        (write.ends ?? write.begins)?.command.kind === 'create'
          ? Promise.reject(new Error(PLANTED))
          : deps.commits.commit(write, partition)
    }
  })
}

/** No authorisation leaves. */
const unreachable: Mutant = {
  description: 'The card network is out of reach.',
  worker: deps => ({
    ...deps,
    network: { ...deps.network, authorise: async () => ({ kind: 'not_sent', reason: PLANTED }) }
  })
}

/**
 * A void reaches the sale seconds after its caller has given up: the service cannot know whether it will. It is an event of the
 * outside, because what a process waits for is moved when a world skips a quiet time.
 */
const lateVoids = (world: World, outside: Process): Mutant => ({
  description: 'The network gives no answer to a void, and books it later.',
  worker: deps => ({
    ...deps,
    network: {
      ...deps.network,
      void: async (saleId, amountCents) => {
        world.after(LATE_MS, outside, () => void deps.network.void(saleId, amountCents, endlessLease))
        return { kind: 'ambiguous', reason: PLANTED }
      }
    }
  })
})

/** Scenarios that need trouble of their own. */
const planted: Partial<Record<ScenarioName, (world: World, outside: Process) => Mutant>> = {
  'a command that no worker can end': () => poisoned,
  'a network out of reach, then another key': () => unreachable,
  'expiry of a hold that is captured by hand while its release is late': lateVoids
}

function stepOf(point: CrashPoint): string {
  return point.replace(/\.(before|after)$/, '')
}

/** The points at which a blow tells something: those beside a step. */
function hitsOfInterest(points: readonly CrashPoint[], tried: Tried | null): [hit: number, point: CrashPoint][] {
  const hits = [...points.entries()].filter(([hit]) => isOfInterest(points, hit))
  if (tried === null) return hits
  const known = Math.max(0, ...tried.map(other => points.findIndex((point, place) => point !== other[place])))
  tried.push(points)
  const alike = new Map<string, number[]>()
  for (const [hit, point] of hits.filter(([place]) => place >= known)) {
    const before = points.slice(0, hit).findLast(isStep)
    const surroundings = [before, point, points.slice(hit + 1).find(isStep)].join()
    alike.set(surroundings, [...(alike.get(surroundings) ?? []), hit])
  }
  const kept = new Set([...alike.values()].flatMap(same => [same[0], same.at(-1)]))
  return hits.filter(([hit]) => kept.has(hit))
}

function isOfInterest(points: readonly CrashPoint[], hit: number): boolean {
  return [hit - 2, hit - 1, hit, hit + 1, hit + 2].some(place => {
    const point = points[place]
    return point !== undefined && isStep(point)
  })
}

function isStep(point: CrashPoint): boolean {
  return !POLLS.includes(stepOf(point))
}
