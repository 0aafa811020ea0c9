/** Faults of a world that come by themselves, and at no step of a process. */
import type { Faults } from './faults.js'
import type { Installation } from './simulated-installation.js'
import type { World } from './world.js'

/** How often a replica takes over, where one does (ms). */
const FAILOVER_EVERY_MS = 12_000
/** How far the clock of the durable Redis may be wrong, which all others follow: a good deal less than the horizon (ms). */
const JUMP_MAX_MS = 7_500
/** The same for the memory-only one, whose clock measures the lives of locks and tokens alone (ms). */
const JUMP_FAR_MS = 60_000

/** Lets them strike, for as long as `faults` says so. */
export function makeTrouble(world: World, installation: Installation, faults: Faults): void {
  const { durable, secrets, receivers } = installation
  const every = (gap: () => number, strikes: () => void): void => {
    if (gap() <= 0) return
    const next = (): void =>
      void world.after(world.random.exponential(gap()), null, () => {
        if (gap() <= 0) return
        strikes()
        next()
      })
    next()
  }
  every(
    () => faults.redisDiesEveryMs,
    () => {
      const server = world.random.chance(0.7) ? durable : secrets
      if (server.isDown) return
      world.note(`${server.options.name} dies`)
      server.kill()
      world.after(world.random.between(50, 3_000), null, () => server.restart())
    }
  )
  every(
    () => faults.redisStallsEveryMs,
    () => {
      world.note('stall')
      durable.stalledUntilMs = world.nowMs + world.random.between(100, 7_000)
    }
  )
  every(
    () => faults.redisClockJumpsEveryMs,
    () => {
      const [server, aheadMaxMs] = world.random.chance(0.6) ? [durable, JUMP_MAX_MS] : [secrets, JUMP_FAR_MS]
      server.clockAheadMs = world.random.between(-aheadMaxMs, aheadMaxMs)
      world.note(`${server.options.name} clock jumps`, `${server.clockAheadMs} ms ahead`)
    }
  )
  every(
    () => (faults.failoverLoses > 0 ? FAILOVER_EVERY_MS : 0),
    () => {
      if (durable.isDown) return
      const lost = world.random.between(1, faults.failoverLoses)
      world.note('failover', `${lost} commands lost`)
      durable.failOver(lost)
    }
  )
  every(
    () => faults.receiversLeaveEveryMs,
    () => {
      world.note('receivers away')
      receivers.awayUntilMs = world.nowMs + world.random.between(500, 10_000)
    }
  )
  world.onLocksVanish = () => {
    world.note('locks vanish')
    for (const key of [...secrets.data.values.keys()]) if (key.startsWith('lock:')) secrets.data.remove(key)
  }
  every(() => faults.locksVanishEveryMs, world.onLocksVanish)
  const { archive } = installation
  every(
    () => (archive === null ? 0 : faults.archiveLeavesEveryMs),
    () => {
      world.note('archive away')
      if (archive !== null) archive.awayUntilMs = world.nowMs + world.random.between(500, 20_000)
    }
  )
}
