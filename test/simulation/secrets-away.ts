/**
 * The memory-only Redis is away for longer than a new payment may wait, from the midst of all other faults on. It comes
 * back without its tokens. What must go on meanwhile.
 */
import { keys, partitionNumbers } from '../../redis/keys.js'
import type { Installation } from './simulated-installation.js'
import type { World } from './world.js'

/** Between this and twice as much after the beginning it goes away (ms). */
const LEAVES_AFTER_MS = 5_000
/** Counted from the end of all other faults (ms). */
const AWAY_MS = 120_000
/** A command or a due payment may wait for so long: for a takeover, the life of a lock, and calls to the network (ms). */
const WAIT_MAX_MS = 60_000

export function takeSecretsAway(world: World, { secrets }: Installation): void {
  world.after(world.random.between(LEAVES_AFTER_MS, 2 * LEAVES_AFTER_MS), null, () => {
    world.note('secrets away')
    secrets.kill()
    secrets.isLost = true
  })
}

/** Lives through the outage. Returns what waited for its end, though it needs no card that a buyer typed. */
export async function outliveOutage(world: World, installation: Installation): Promise<string[]> {
  const { durable, secrets, config } = installation
  await world.turn(() => false, AWAY_MS)
  const waiting = partitionNumbers(config.partitions).flatMap(partition => {
    const oldMs = world.nowMs - WAIT_MAX_MS
    const commands = [...(durable.data.stream(keys.commands(partition))?.entries ?? [])]
    const due = [...(durable.data.zset(keys.due(partition)) ?? [])]
    return [
      ...commands
        .filter(([id, fields]) => Number.parseInt(id, 10) < oldMs && !fields.join(' ').includes('"kind":"create"'))
        .map(([id, fields]) => `command ${id} ${fields.join(' ')}`),
      ...due.filter(([, dueMs]) => dueMs < oldMs).map(([id]) => `payment ${id} is due`)
    ]
  })
  world.note('secrets back')
  secrets.isLost = false
  secrets.restart()
  return waiting.map(what => `waits for the memory-only Redis: ${what}`)
}
