/** `queue status|oldest` */
import type { Command } from 'commander'
import { listOldestCommands, type WaitingCommand } from '../../redis/commands/oldest-commands.js'
import { type QueueStatus, queueStatus } from '../../redis/commands/queue-status.js'
import { livingConsumers } from '../../redis/commands/takeover.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import { createNotificationStore } from '../../redis/notifications/notifications.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { type Field, jsonOf, listing } from './output.js'
import type { Output, VerbMaker } from './verb.js'

/** As many as an operator looks at. */
const OLDEST_MAX = 20

export function queueCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('queue').description('The work that waits.')
  verb(
    noun.command('status'),
    { does: 'Commands, wake-ups and dead letters: of each partition that has any, then in total.' },
    status
  )
  verb(
    noun.command('oldest'),
    { does: `The ${OLDEST_MAX} commands that have had no result for longest, and the worker that has each.` },
    async ({ redis, config }) =>
      listing(
        await listOldestCommands(redis, config.partitions, OLDEST_MAX),
        OLDEST_FIELDS,
        'Every command has its result.'
      )
  )
}

async function status(connection: OperatorConnection): Promise<Output> {
  const { redis, config } = connection
  const rows = await queueStatus(redis, config.partitions, await serviceNowMs(connection))
  const { size: workers } = await livingConsumers(redis, config.takeoverAfterMs)
  const notifications = await createNotificationStore(unreplicated(redis), config.partitions).count()
  const total = sumOf(rows)
  const busy = rows.filter(row => row.length + row.scheduled + row.deadLetters + row.inReview > 0)
  const { text } = listing([...busy, { partition: 'all', ...total }], STATUS_FIELDS, '')
  return {
    json: {
      total: { ...jsonOf(STATUS_FIELDS, total), workers, notifications },
      partitions: rows.map(row => jsonOf(STATUS_FIELDS, row))
    },
    text: `${text}\n\nLive workers, each of which reads all partitions: ${workers}.\nNotifications of the network whose payment is not found yet: ${notifications}.`
  }
}

const OLDEST_FIELDS: readonly Field<WaitingCommand>[] = [
  ['partition', ({ partition }) => partition],
  ['age_ms', ({ ageMs }) => ageMs],
  ['payment_id', ({ command }) => (command === null ? null : paymentIdOfKey(command.paymentKey))],
  ['command', ({ command }) => command?.command.kind ?? null],
  ['handed_out_before', ({ command }) => command?.deliveryCount ?? null],
  ['worker', ({ worker }) => worker]
]

type Total = Omit<QueueStatus, 'partition'>

/** The sum of all partitions; of ages the highest. */
function sumOf(rows: readonly QueueStatus[]): Total {
  const sum = (pick: (row: QueueStatus) => number): number => rows.reduce((all, row) => all + pick(row), 0)
  const ages = rows.flatMap(row => row.oldestAgeMs ?? [])
  const inDoubt: Record<string, number> = {}
  for (const [age, count] of rows.flatMap(row => Object.entries(row.inDoubt))) {
    inDoubt[age] = (inDoubt[age] ?? 0) + count
  }
  return {
    length: sum(row => row.length),
    pending: sum(row => row.pending),
    oldestAgeMs: ages.length === 0 ? null : Math.max(...ages),
    scheduled: sum(row => row.scheduled),
    due: sum(row => row.due),
    reconcileDue: sum(row => row.reconcileDue),
    deadLetters: sum(row => row.deadLetters),
    inReview: sum(row => row.inReview),
    inDoubt
  }
}

const STATUS_FIELDS: readonly Field<Total & { readonly partition?: number | string }>[] = [
  // Of the total it is undefined, which JSON leaves out.
  ['partition', ({ partition }) => partition],
  ['length', ({ length }) => length],
  ['pending', ({ pending }) => pending],
  ['oldest_age_ms', ({ oldestAgeMs }) => oldestAgeMs],
  ['scheduled', ({ scheduled }) => scheduled],
  ['due', ({ due }) => due],
  ['reconcile_due', ({ reconcileDue }) => reconcileDue],
  ['dead_letters', ({ deadLetters }) => deadLetters],
  ['in_review', ({ inReview }) => inReview],
  ['in_doubt', ({ inDoubt }) => inDoubt['0'] ?? 0]
]
