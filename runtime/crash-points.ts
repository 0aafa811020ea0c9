/**
 * Named points on the way of a command at which a test lets a process die: before and after every script and every
 * call to the card network, so between any two steps that another process can see.
 *
 * Off, a point is one comparison. The list is closed: a script or a call without a point does not compile, or fails
 * test/runtime/crash-points.test.ts.
 */

/** Every step, and what has happened when a process dies right before and right after it. */
export const crashSteps = {
  claim_token:
    'A token is claimed: before, it is free; after, it belongs to the request, whose key can claim it again.',
  release_token:
    'A token is released: before, it belongs to a request that has no use for it; after, another key can claim it.',
  accept_payment:
    'A new payment is accepted: before, nothing is known of it; after, it is durable and its request has no answer.',
  accept_operation: 'A capture or cancel is accepted: before, nothing is known of it; after, it is durable.',
  read_commands: 'Commands are delivered: before, they wait; after, they belong to a worker that has done nothing.',
  commit: 'A decision is written: before, nothing has changed; after, an effect is due, or the command has ended.',
  finish:
    'A command ends without a change: before, it is redelivered; after, its result is stored and its request waits.',
  requeue: 'A command is requeued: before, it belongs to a worker; after, to the stream.',
  dead_letter: 'A command is taken out of circulation.',
  fire_due: 'Wake-ups become commands: before, they are due; after, they wait in the stream.',
  drop_consumer: 'A dead worker that holds nothing is forgotten.',
  settle_webhook:
    'What became of a webhook event is written: before, it is sent again; after, it waits, or the next one of its payment follows.',
  release_webhooks: 'Parked payments go on: before, they are parked; after, they have a command.',
  note_notification:
    'A notification of the network is kept: before, the network gets no answer and repeats it; after, it is durable.',
  take_notifications:
    'Notifications are taken for a while: when their taker dies, others get them as soon as that time is over.',
  drop_notification:
    'A notification that was forwarded to its payment is dropped: before, it comes up again and is forwarded twice.',
  'archive.put': 'Payments are written into the archive: before, they are in Redis only; after, in both.',
  remove_payments: 'Payments leave Redis: before, they are in both; after, in the archive only.',
  'archive.takeBack': 'The archive is asked for a payment that is about to change; it stays there.',
  restore_payment: 'A payment comes back: before, it is in the archive only; after, in both, and Redis counts.',
  'network.authorise':
    'An authorisation is sent: before, the network has no sale; after, only the dead worker knows the outcome.',
  'network.capture': 'A capture is sent; its intent is committed.',
  'network.void': 'A void or refund is sent; its intent is committed.',
  'network.query': 'The network is asked about an order.',
  'network.findOrderId': 'The network is asked which order a sale belongs to.'
} as const satisfies Record<string, string>

export type CrashStep = keyof typeof crashSteps
export type CrashPoint = `${CrashStep}.${'before' | 'after'}`

/** Scripts that change nothing on the way of a command: dying around them is dying somewhere else. */
export const scriptsBesideTheWay = {
  beat: 'a sign of life; the next one comes in two seconds',
  find_living: 'reads',
  begin_command: 'reads, and only where replicas are waited for',
  watch_workers: 'reads, and leaves a sign of its own life',
  list_payments: 'reads',
  first_webhook: 'reads',
  replace_webhook_endpoint: 'a merchant repeats the request',
  replay_letter: 'an operator repeats it by hand',
  replay_webhook: 'an operator repeats it by hand',
  reseal_card: 'a rotation of keys goes on where it was; no payment is touched',
  store_card: 'a card is stored, no payment is touched',
  erase_card: 'a merchant repeats the request; no payment is touched',
  take_from_bucket: 'counts requests',
  pace_reconciliations: 'counts queries; what a death takes away comes back with time'
} as const satisfies Record<string, string>

export type ScriptName =
  | Exclude<CrashStep, `${'network' | 'archive'}.${string}` | 'read_commands'>
  | keyof typeof scriptsBesideTheWay

/** What happens at a point. A hook that never settles leaves the work there for ever, which is what a death does. */
export type CrashHook = (point: CrashPoint) => Promise<void>

let hook: CrashHook | null = null

/** Switches the points on, or off with null. Tests only. */
export function armCrashPoints(armed: CrashHook | null): void {
  hook = armed
}

/** Takes a step, with its two points around it. */
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

/** Whether a script stands on the way of a command. */
export function isStep(name: ScriptName): name is ScriptName & CrashStep {
  return Object.hasOwn(crashSteps, name)
}
