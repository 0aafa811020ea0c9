/**
 * Every operation, with a death at every point of its way: first a run without a death, which tells the points that
 * the operation passes, then one run for each of them.
 */
import { armCrashPoints, type CrashPoint } from '../../runtime/crash-points.js'
import { audit } from './audit.js'
import { NO_FAULTS } from './faults.js'
import { inside } from './globals.js'
import { Installation } from './installation.js'
import { MerchantClient } from './merchant.js'
import { isAtRest, PEACE_MAX_MS, quietUntilMs, registerWebhooks, watchVersions } from './run.js'
import { type ScenarioName, scenarios } from './scenarios.js'
import { Process, World } from './world.js'

/** A death in a scenario: at the `hit`th point that any process passed. */
export interface Death {
  readonly scenario: ScenarioName
  readonly hit: number
  readonly point: CrashPoint
  readonly violations: readonly string[]
}

interface Life {
  readonly points: readonly CrashPoint[]
  readonly violations: readonly string[]
}

/** Steps that are taken all the time; only those next to another step are of interest. */
const POLLS: readonly string[] = ['read_commands', 'fire_due', 'take_notices']
const MERCHANT = 'm_one'

/** Yields one death after the other. */
export async function* crashMatrix(names: readonly ScenarioName[]): AsyncGenerator<Death> {
  for (const scenario of names) {
    const { points, violations } = await live(scenario, null)
    if (violations.length > 0) throw new Error(`${scenario} fails without a death: ${violations.join('; ')}`)
    for (const [hit, point] of points.entries()) {
      if (!isOfInterest(points, hit)) continue
      yield { scenario, hit, point, violations: (await live(scenario, hit)).violations }
    }
  }
}

/** Plays a scenario to its rest; the process that comes to point number `deathAt` dies there. */
async function live(name: ScenarioName, deathAt: number | null): Promise<Life> {
  const world = new World(1, null)
  return await inside(world, async () => {
    const points: CrashPoint[] = []
    armCrashPoints(async point => {
      // What the outside does is no step of the service.
      if (world.current === null || world.current.isSafe) return
      points.push(point)
      if (points.length - 1 !== deathAt) return
      world.current.kill()
      await new Promise(() => undefined)
    })
    try {
      return { points, violations: await play(world, name) }
    } finally {
      armCrashPoints(null)
    }
  })
}

async function play(world: World, name: ScenarioName): Promise<string[]> {
  const installation = new Installation(world, NO_FAULTS, null)
  const violations = new Set<string>()
  installation.durable.watch = (args, data) => watchVersions(args, data, violations)
  const outside = new Process('outside', true)
  const client = new MerchantClient(world, installation, outside, MERCHANT)
  registerWebhooks(installation, [client])
  installation.start(2, 1, 1)
  let hasEnded = false
  world.spawn(outside, () => {
    void scenarios[name]({ world, installation, client, outside }).then(() => {
      hasEnded = true
    })
  })
  world.quietUntilMs = () => quietUntilMs(installation, [client])
  const isAtEnd = await world.turn(() => hasEnded && isAtRest(installation), PEACE_MAX_MS)
  if (!isAtEnd) violations.add('not at rest after a quarter of an hour')
  return [...violations, ...audit(installation, [client]), ...installation.errors]
}

function isOfInterest(points: readonly CrashPoint[], hit: number): boolean {
  return [hit - 2, hit - 1, hit, hit + 1, hit + 2].some(place => {
    const step = points[place]?.replace(/\.(before|after)$/, '')
    return step !== undefined && !POLLS.includes(step)
  })
}
