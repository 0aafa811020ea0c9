/** `queue status|oldest` */
import { Command } from 'commander'
import { listOldestCommands, type WaitingCommand } from '../../redis/commands/oldest-commands.js'
import { type QueueStatus, queueStatus } from '../../redis/commands/queue-status.js'
import { livingConsumers } from '../../redis/commands/takeover.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import { createNotificationStore } from '../../redis/notifications/notifications.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { listing, secondsText } from './output.js'
import type { Output, VerbMaker } from './verb.js'

/** As many as an operator looks at. */
const OLDEST_MAX = 20

export function queueCommand(verb: VerbMaker): Command {
  const noun = new Command('queue').description('The work that waits.')
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
        presentCommand,
        {
          PARTITION: 'partition',
          AGE: ({ ageMs }) => secondsText(ageMs),
          PAYMENT: 'payment_id',
          COMMAND: ({ command }) => command?.command.kind ?? 'not readable',
          'DELIVERIES BEFORE': 'handed_out_before',
          'WORKER (HOST.PID.LIFE)': ({ worker }) => worker ?? 'none yet'
        },
        'Every command has its result.'
      )
  )
  return noun
}

async function status(connection: OperatorConnection): Promise<Output> {
  const { redis, config } = connection
  const rows = await queueStatus(redis, config.partitions, await serviceNowMs(connection))
  const { size: workers } = await livingConsumers(redis, config.takeoverAfterMs)
  const notifications = await createNotificationStore(redis, config.partitions).count()
  const total = sumOf(rows)
  const busy = rows.filter(row => row.length + row.scheduled + row.deadLetters + row.inReview > 0)
  const { text } = listing(
    [...busy, { partition: 'all', ...total }],
    present,
    {
      PARTITION: 'partition',
      WAITING: ({ length, pending }) => length - pending,
      'IN WORK': 'pending',
      OLDEST: ({ oldestAgeMs }) => (oldestAgeMs === null ? null : secondsText(oldestAgeMs)),
      'WAKE-UPS': 'scheduled',
      DUE: 'due',
      'TO RECONCILE': 'reconcile_due',
      DEAD: 'dead_letters',
      'IN REVIEW': 'inReview'
    },
    ''
  )
  return {
    json: { total: { ...present(total), workers, notifications }, partitions: rows.map(present) },
    text: `${text}\n\nLive workers, each of which reads all partitions: ${workers}.\nNotifications of the network whose payment is not found yet: ${notifications}.`
  }
}

function presentCommand({ partition, ageMs, worker, command }: WaitingCommand) {
  return {
    partition,
    age_ms: ageMs,
    payment_id: command === null ? null : paymentIdOfKey(command.paymentKey),
    command: command?.command.kind ?? null,
    handed_out_before: command?.deliveryCount ?? null,
    worker
  }
}

type Total = Omit<QueueStatus, 'partition'>

/** The sum of all partitions; of ages the highest. */
export function sumOf(rows: readonly QueueStatus[]): Total {
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

function present(row: Total & { readonly partition?: number | string }) {
  return {
    // Of the total it is undefined, which JSON leaves out.
    partition: row.partition,
    length: row.length,
    pending: row.pending,
    oldest_age_ms: row.oldestAgeMs,
    scheduled: row.scheduled,
    due: row.due,
    reconcile_due: row.reconcileDue,
    dead_letters: row.deadLetters,
    inReview: row.inReview,
    in_doubt: row.inDoubt['0'] ?? 0
  }
}
