/** The names of all scripts. The lists are complete: a script that is in neither does not compile. */

/** Steps of a command. Each runs between its crash points. */
export const scriptSteps = [
  'claim_tokens',
  'release_token',
  'accept_payment',
  'accept_operation',
  'begin_commands',
  'commit',
  'finish',
  'requeue',
  'release_command',
  'dead_letter',
  'fire_due',
  'drop_consumer',
  'conclude_webhook',
  'fire_webhooks',
  'note_notification',
  'take_notifications',
  'drop_notification',
  'remove_payments',
  'restore_payment'
] as const

/** Scripts that need no crash points. They read, count, or store no payment, or their caller repeats them. */
export const scriptsBesideTheWay = [
  'dead_letter_entry',
  'beat',
  'list_payments',
  'replace_record',
  'replay_letter',
  'replay_webhook',
  'store_card',
  'take_from_bucket',
  'pace_reconciliations',
  'set_vouch'
] as const

export type ScriptName = (typeof scriptSteps)[number] | (typeof scriptsBesideTheWay)[number]
