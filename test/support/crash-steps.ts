/** The points of runtime/crash-points.ts, at which simulated processes and those of a chaos run die. */
import { scriptSteps } from '../../redis/script-names.js'
import { armCrashPoints } from '../../runtime/crash-points.js'

/** Every step, and the state after a process dies right before or right after it. */
export const crashSteps = {
  ...scriptSteps,
  read_commands:
    'Commands are delivered: before, they wait; after, they are pending for a worker that has done nothing.',
  'archive.put': 'Payments are written into the archive: before, they are in Redis only; after, in both.',
  'archive.takeBack': 'A payment that is about to change is read from the archive; it stays there.',
  'network.authorise':
    'An authorisation is sent: before, the network has no sale; after, only the dead worker knew the outcome.',
  'network.capture': 'A capture is sent; its intent is committed.',
  'network.void': 'A void or refund is sent; its intent is committed.',
  'network.query': 'The network is asked about an order.',
  'network.findOrderId': 'The network is asked which order a sale belongs to.'
} as const satisfies Record<string, string>

type CrashStep = keyof typeof crashSteps
export type CrashPoint = `${CrashStep}.${'before' | 'after'}`

/** Whether a text names a point. */
export function isCrashPoint(text: string): text is CrashPoint {
  const match = /^(.+)\.(before|after)$/.exec(text)
  return match?.[1] !== undefined && Object.hasOwn(crashSteps, match[1])
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
