/**
 * The name of every script, and the state after a process dies right before or right after it. The list is complete: a script
 * that is not in it does not compile.
 */

/** Steps of a command. Each runs between its crash points. */
export const scriptSteps = {
  claim_tokens:
    'Tokens are claimed: before, they are free; after, each belongs to a request, whose key can claim it again.',
  release_token:
    'A token is released: before, it belongs to a request that does not need it; after, another key can claim it.',
  accept_payment:
    'A new payment is accepted: before, nothing is stored; after, it is durable and its request has no answer.',
  accept_operation: 'A capture or cancel is accepted: before, nothing is stored; after, it is durable.',
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
  remove_payments: 'Payments leave Redis: before, they are in both; after, in the archive only.',
  restore_payment:
    'A payment is restored to Redis: before, it is in the archive only; after, in both, and the copy in Redis is current.'
} as const satisfies Record<string, string>

/** Scripts that need no crash points, and why. */
export const scriptsBesideTheWay = {
  dead_letter_entry: 'an entry that is no command; the worker that has it repeats it',
  beat: 'a heartbeat; the next one comes in two seconds',
  list_payments: 'reads',
  replace_record: 'a merchant repeats the request, an operator the rotation',
  replay_letter: 'an operator repeats it',
  replay_webhook: 'an operator repeats it',
  store_card: 'a card is stored, no payment is touched',
  take_from_bucket: 'counts requests',
  pace_reconciliations: 'counts queries; the allowance refills with time',
  set_vouch: 'no money moves before it; the next look repeats it'
} as const satisfies Record<string, string>

export type ScriptName = keyof typeof scriptSteps | keyof typeof scriptsBesideTheWay
