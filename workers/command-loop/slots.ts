/** Bounds what a worker does at the same time, and what it does for one owner of the work. */
import { EventEmitter, once } from 'node:events'

export interface Slots {
  /** How many are free; at least 1, because several readers share the slots, and one may just have taken the last. */
  free(): number
  /** Takes a slot until `work` has ended. When `owner` has its share of them, `work` waits for one of the owner's. */
  run(work: () => Promise<void>, owner?: string): void
  /** Runs `work` once no other work runs; what is asked for meanwhile waits until it has ended. */
  runAlone(work: () => Promise<void>): void
  /** Resolves when there is room for more work. */
  someFree(): Promise<void>
  /** Resolves when no work runs or waits. */
  allFree(): Promise<void>
}

/** Works that wait for a slot of their owner: beyond that, reading pauses for all. */
const WAITING_MAX = 20_000

interface Owner {
  used: number
  readonly waiting: (() => Promise<void>)[]
}

/** `share`: the slots of one owner at most. */
export function createSlots(size: number, share: number = size): Slots {
  let used = 0
  let waiting = 0
  let isAlone = false
  const alone: (() => Promise<void>)[] = []
  const held: (() => void)[] = []
  const owners = new Map<string, Owner>()
  const slots = new EventEmitter().setMaxListeners(0)
  const start = (work: () => Promise<void>, name: string | undefined, owner: Owner | undefined): void => {
    used++
    if (owner !== undefined) owner.used++
    void work().finally(() => {
      used--
      isAlone = false
      if (name !== undefined && owner !== undefined) release(name, owner)
      startHeld()
      slots.emit('released')
    })
  }
  /** First what has to run alone, then what waited for it. */
  const startHeld = (): void => {
    if (isAlone || (alone.length > 0 && used > 0)) return
    const next = alone.shift()
    if (next !== undefined) {
      isAlone = true
      start(next, undefined, undefined)
    } else for (const run of held.splice(0)) run()
  }
  const release = (name: string, owner: Owner): void => {
    owner.used--
    const next = owner.waiting.shift()
    if (next !== undefined) {
      waiting--
      start(next, name, owner)
    } else if (owner.used === 0) owners.delete(name)
  }
  return {
    free: () => Math.max(size - used, 1),
    runAlone(work) {
      alone.push(work)
      startHeld()
    },
    run(work, name) {
      if (isAlone || alone.length > 0) return void held.push(() => this.run(work, name))
      if (name === undefined) return start(work, undefined, undefined)
      const owner = owners.get(name) ?? { used: 0, waiting: [] }
      owners.set(name, owner)
      if (owner.used < share) return start(work, name, owner)
      waiting++
      owner.waiting.push(work)
    },
    async someFree() {
      while (used >= size || waiting >= WAITING_MAX || isAlone || alone.length > 0) await once(slots, 'released')
    },
    async allFree() {
      while (used > 0 || alone.length > 0 || held.length > 0) await once(slots, 'released')
    }
  }
}
