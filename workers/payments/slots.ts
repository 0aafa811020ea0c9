/** Bounds what a worker does at the same time. */

export interface Slots {
  /** How many are free; at least 1, because several readers share the slots, and one may just have taken the last. */
  free(): number
  /** Takes a slot until `work` has ended. */
  run(work: () => Promise<void>): void
  /** Resolves when a slot is free. */
  someFree(): Promise<void>
  /** Resolves when nothing is running any more. */
  allFree(): Promise<void>
}

export function createSlots(size: number): Slots {
  let used = 0
  const waiting: { until: () => boolean; resolve: () => void }[] = []
  const wake = (): void => {
    for (let i = waiting.length - 1; i >= 0; i--) {
      const waiter = waiting[i]
      if (waiter?.until()) {
        waiting.splice(i, 1)
        waiter.resolve()
      }
    }
  }
  const when = (until: () => boolean): Promise<void> =>
    until() ? Promise.resolve() : new Promise(resolve => waiting.push({ until, resolve }))
  return {
    free: () => Math.max(size - used, 1),
    run: work => {
      used++
      void work().finally(() => {
        used--
        wake()
      })
    },
    someFree: () => when(() => used < size),
    allFree: () => when(() => used === 0)
  }
}
