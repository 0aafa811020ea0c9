/** Bounds what a worker does at the same time. */
import { EventEmitter, once } from 'node:events'

export interface Slots {
  /** How many are free; at least 1, because several readers share the slots, and one may just have taken the last. */
  free(): number
  /** Takes a slot until `work` has ended. */
  run(work: () => Promise<void>): void
  /** Runs `work` once no other work runs; what is asked for meanwhile waits until it has ended. */
  runAlone(work: () => Promise<void>): void
  /** Resolves when there is room for more work. */
  someFree(): Promise<void>
  /** Resolves when no work runs or waits. */
  allFree(): Promise<void>
}

export function createSlots(size: number): Slots {
  let used = 0
  let isAlone = false
  const alone: (() => Promise<void>)[] = []
  const held: (() => Promise<void>)[] = []
  const slots = new EventEmitter().setMaxListeners(0)
  const start = (work: () => Promise<void>): void => {
    used++
    void work().finally(() => {
      used--
      isAlone = false
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
      start(next)
    } else for (const work of held.splice(0)) start(work)
  }
  return {
    free: () => Math.max(size - used, 1),
    runAlone(work) {
      alone.push(work)
      startHeld()
    },
    run(work) {
      if (isAlone || alone.length > 0) held.push(work)
      else start(work)
    },
    async someFree() {
      while (used >= size || isAlone || alone.length > 0) await once(slots, 'released')
    },
    async allFree() {
      while (used > 0 || alone.length > 0 || held.length > 0) await once(slots, 'released')
    }
  }
}
