/** Bounds what a worker does at the same time. */
import { EventEmitter, once } from 'node:events'

export interface Slots {
  /** How many are free; at least 1, because several readers share the slots, and one may just have taken the last. */
  free(): number
  /** Takes a slot until `work` has ended. */
  run(work: () => Promise<void>): void
  /** Resolves when a slot is free. */
  someFree(): Promise<void>
  /** Resolves when no work runs. */
  allFree(): Promise<void>
}

export function createSlots(size: number): Slots {
  let used = 0
  const slots = new EventEmitter().setMaxListeners(0)
  const whenUsed = async (max: number): Promise<void> => {
    while (used > max) await once(slots, 'released')
  }
  return {
    free: () => Math.max(size - used, 1),
    run: work => {
      used++
      void work().finally(() => {
        used--
        slots.emit('released')
      })
    },
    someFree: () => whenUsed(size - 1),
    allFree: () => whenUsed(0)
  }
}
