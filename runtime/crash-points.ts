/**
 * Points before and after a named step of the work, such as a script or a call to the card network, at which a test stops or kills
 * the process: between any two steps that another process can see. A point that is off costs one comparison.
 */

/** Called at a point. A hook that never settles stops the work there, as a crash does. */
export type CrashHook = (point: string) => Promise<void>

let hook: CrashHook | null = null

/** Arms the points; null disarms them. Tests only. */
export function armCrashPoints(armed: CrashHook | null): void {
  hook = armed
}

/** Runs `work` between the two points of a step. */
export function withCrashPoints<T>(step: string, work: () => Promise<T>): Promise<T> {
  return hook === null ? work() : withArmedCrashPoints(hook, step, work)
}

async function withArmedCrashPoints<T>(armed: CrashHook, step: string, work: () => Promise<T>): Promise<T> {
  await armed(`${step}.before`)
  const result = await work()
  await armed(`${step}.after`)
  return result
}
