/** While a world turns, time and chance are its own: the globals that tell them are exchanged, and put back after. */
import type { ScheduledEvent, World } from './world.js'

/** What `setTimeout` gives back; Node's own has more, the code under test uses this. */
interface Timer {
  event: ScheduledEvent
  ref(): Timer
  unref(): Timer
}

const EXCHANGED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'] as const

/** Runs `work` with the clock, timers and dice of `world`. One world at a time. */
export async function inside<T>(world: World, work: () => Promise<T>): Promise<T> {
  const kept = EXCHANGED.map(name => [name, globalThis[name]] as const)
  const { now } = Date
  const { random } = Math
  const performanceNow = performance.now
  Object.assign(globalThis, timersOf(world))
  Date.now = () => Math.floor(world.nowMs + (world.current?.clockAheadMs ?? 0))
  Math.random = () => world.random.next()
  performance.now = () => world.elapsedMs - world.skippedMs
  try {
    return await work()
  } finally {
    Object.assign(globalThis, Object.fromEntries(kept))
    Date.now = now
    Math.random = random
    performance.now = performanceNow
  }
}

function timersOf(world: World): Record<(typeof EXCHANGED)[number], unknown> {
  const timer = (event: ScheduledEvent): Timer => {
    const self: Timer = { event, ref: () => self, unref: () => self }
    return self
  }
  const clear = (handle: Timer | undefined): void => {
    if (handle !== undefined) handle.event.isCancelled = true
  }
  const every = (handle: Timer, work: () => void, ms: number): void => {
    handle.event = world.after(ms, world.current, () => {
      every(handle, work, ms)
      work()
    })
  }
  return {
    setTimeout: (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      timer(world.after(ms, world.current, () => work(...args))),
    setInterval: (work: () => void, ms: number) => {
      const handle = timer(world.after(ms, world.current, () => undefined))
      handle.event.isCancelled = true
      every(handle, work, ms)
      return handle
    },
    setImmediate: (work: () => void) => timer(world.after(0, world.current, work)),
    clearTimeout: clear,
    clearInterval: clear
  }
}
