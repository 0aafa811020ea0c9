/**
 * Named points at which a test kills a process: before and after every script and every call to the card network that
 * a command makes, so between any two steps that another process can see.
 *
 * A point that is off costs one comparison. The list is complete: a script or a call without a point does not compile,
 * or fails test/runtime/crash-points.test.ts.
 */

/** Every step, and the state after a process dies right before or right after it. */
export const crashSteps = {
  claim_token:
    'A token is claimed: before, it is free; after, it belongs to the request, whose key can claim it again.',
  release_token:
    'A token is released: before, it belongs to a request that does not need it; after, another key can claim it.',
  accept_payment:
    'A new payment is accepted: before, nothing is stored; after, it is durable and its request has no answer.',
  accept_operation: 'A capture or cancel is accepted: before, nothing is stored; after, it is durable.',
  read_commands:
    'Commands are delivered: before, they wait; after, they are pending for a worker that has done nothing.',
  begin_commands:
    'New payments are marked as begun: before, nothing was sent; after, the next worker asks the network first.',
  commit: 'A decision is written: before, nothing has changed; after, an effect is due, or the command has ended.',
  finish:
    'A command ends without a change: before, it is redelivered; after, its result is stored and its request waits.',
  requeue: 'A command is requeued: before, it is pending for a worker; after, it waits in the stream.',
  release_command:
    'A command that was not begun goes back: before, it is pending for a worker; after, it waits in the stream.',
  dead_letter: 'A command becomes a dead letter.',
  fire_due: 'Wake-ups become commands: before, they are due; after, they wait in the stream.',
  drop_consumer: 'A dead worker without pending entries is removed from the group.',
  conclude_webhook:
    'What follows from the outcome of a webhook delivery is written: before, the event is sent again; after, it waits, or the next event of its payment follows.',
  fire_webhooks: 'Payments of the line of an endpoint go on: before, they wait there; after, they have a command.',
  note_notification:
    'A notification of the network is kept: before, the network gets no answer and repeats it; after, it is durable.',
  take_notifications: 'Notifications are leased: when the process dies, another one gets them after the lease.',
  drop_notification: 'A notification that was forwarded to its payment is dropped: before, it is forwarded again.',
  'archive.put': 'Payments are written into the archive: before, they are in Redis only; after, in both.',
  remove_payments: 'Payments leave Redis: before, they are in both; after, in the archive only.',
  'archive.takeBack': 'A payment that is about to change is read from the archive; it stays there.',
  restore_payment:
    'A payment is restored to Redis: before, it is in the archive only; after, in both, and the copy in Redis is current.',
  'network.authorise':
    'An authorisation is sent: before, the network has no sale; after, only the dead worker knew the outcome.',
  'network.capture': 'A capture is sent; its intent is committed.',
  'network.void': 'A void or refund is sent; its intent is committed.',
  'network.query': 'The network is asked about an order.',
  'network.findOrderId': 'The network is asked which order a sale belongs to.'
} as const satisfies Record<string, string>

export type CrashStep = keyof typeof crashSteps
export type CrashPoint = `${CrashStep}.${'before' | 'after'}`

/** Scripts that need no crash points, and why. */
export const scriptsBesideTheWay = {
  beat: 'a heartbeat; the next one comes in two seconds',
  find_living: 'reads',
  watch_workers: 'reads, and writes a heartbeat',
  list_payments: 'reads',
  first_webhook: 'reads',
  replace_webhook_endpoint: 'a merchant repeats the request',
  replay_letter: 'an operator repeats it',
  replay_webhook: 'an operator repeats it',
  reseal_card: 'a rotation of keys continues there; no payment is touched',
  store_card: 'a card is stored, no payment is touched',
  erase_card: 'a merchant repeats the request; no payment is touched',
  take_from_bucket: 'counts requests',
  pace_reconciliations: 'counts queries; the allowance refills with time',
  set_vouch: 'no money moves before it; the next look repeats it',
  remember: 'repeated once a second'
} as const satisfies Record<string, string>

export type ScriptName =
  | Exclude<CrashStep, `${'network' | 'archive'}.${string}` | 'read_commands'>
  | keyof typeof scriptsBesideTheWay

/** Called at a point. A hook that never settles stops the work there, as a crash does. */
export type CrashHook = (point: CrashPoint) => Promise<void>

let hook: CrashHook | null = null

/** Arms the points; null disarms them. Tests only. */
export function armCrashPoints(armed: CrashHook | null): void {
  hook = armed
}

/** Runs `work` between the two points of a step. */
export function withCrashPoints<T>(step: CrashStep, work: () => Promise<T>): Promise<T> {
  return hook === null ? work() : withArmedCrashPoints(hook, step, work)
}

async function withArmedCrashPoints<T>(armed: CrashHook, step: CrashStep, work: () => Promise<T>): Promise<T> {
  await armed(`${step}.before`)
  const result = await work()
  await armed(`${step}.after`)
  return result
}

/** Whether a text names a point. */
export function isCrashPoint(text: string): text is CrashPoint {
  const match = /^(.+)\.(before|after)$/.exec(text)
  return match?.[1] !== undefined && Object.hasOwn(crashSteps, match[1])
}

/** Whether a script has crash points. */
export function isStep(name: ScriptName): name is ScriptName & CrashStep {
  return Object.hasOwn(crashSteps, name)
}
