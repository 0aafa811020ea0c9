/** The points of runtime/crash-points.ts, at which simulated processes and those of a chaos run die. */
import { scriptSteps } from '../../redis/script-names.js'
import { armCrashPoints } from '../../runtime/crash-points.js'

/** Every step. A process dies right before or right after it. */
export const crashSteps = [
  ...scriptSteps,
  'read_commands',
  'archive.put',
  'archive.takeBack',
  'network.authorise',
  'network.capture',
  'network.void',
  'network.query',
  'network.findOrderId'
] as const

export type CrashPoint = `${(typeof crashSteps)[number]}.${'before' | 'after'}`

/** Whether a text names a point. */
export function isCrashPoint(text: string): text is CrashPoint {
  return crashSteps.some(step => text === `${step}.before` || text === `${step}.after`)
}

/** Arms the points of this process, until it is called with null. A step that is not in the list fails where it is reached. */
export function armNamedPoints(hook: ((point: CrashPoint) => Promise<void>) | null): void {
  armCrashPoints(
    hook === null
      ? null
      : async point => {
          if (!isCrashPoint(point)) throw new Error(`test/support/crash-steps.ts has no step for the point ${point}.`)
          await hook(point)
        }
  )
}
