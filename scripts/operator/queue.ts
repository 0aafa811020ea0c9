/** `queue status|oldest` */
import { Command } from 'commander'
import { listOldestCommands, type WaitingCommand } from '../../redis/commands/oldest-commands.js'
import { type QueueStatus, queueStatus } from '../../redis/commands/queue-status.js'
import { livingConsumers } from '../../redis/commands/takeover.js'
import { paymentIdOfKey } from '../../redis/keys.js'
import { createNotificationStore } from '../../redis/notifications/notifications.js'
import { serviceNowMs } from './connection.js'
import { table } from './table.js'
import type { VerbMaker } from './verb.js'

/** As many as an operator looks at. */
const OLDEST_MAX = 20

export function queueCommand(verb: VerbMaker): Command {
  const noun = new Command('queue').description('The work that waits.')
  verb(
    noun.command('status'),
    { does: 'Commands, wake-ups and dead letters: per partition that has any, and in sum.' },
    async connection => {
      const { redis, config } = connection
      const rows = await queueStatus(redis, config.partitions, await serviceNowMs(connection))
      const { size: workers } = await livingConsumers(redis, config.takeoverAfterMs)
      const notifications = await createNotificationStore(redis, config.partitions).count()
      const total = sumOf(rows)
      return {
        json: { total: { ...present(total), workers, notifications }, partitions: rows.map(row => present(row)) },
        text: textOf(rows, total, { workers, notifications })
      }
    }
  )
  verb(
    noun.command('oldest'),
    { does: `The ${OLDEST_MAX} commands that have had no result for longest, and the worker that has each.` },
    async ({ redis, config }) => {
      const rows = (await listOldestCommands(redis, config.partitions, OLDEST_MAX)).map(presentCommand)
      const header = ['PARTITION', 'AGE', 'PAYMENT', 'COMMAND', 'DELIVERIES BEFORE', 'WORKER (HOST.PID.LIFE)']
      const lines = rows.map(row => [
        String(row.partition),
        `${(row.age_ms / 1_000).toFixed(1)} s`,
        row.payment_id ?? '-',
        row.command ?? 'not readable',
        String(row.handed_out_before ?? '-'),
        row.worker ?? 'none yet'
      ])
      return { json: rows, text: table(header, lines, 'Every command has its result.') }
    }
  )
  return noun
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
  return {
    length: sum(row => row.length),
    pending: sum(row => row.pending),
    oldestAgeMs: ages.length === 0 ? null : Math.max(...ages),
    scheduled: sum(row => row.scheduled),
    due: sum(row => row.due),
    reconcileDue: sum(row => row.reconcileDue),
    deadLetters: sum(row => row.deadLetters),
    inReview: sum(row => row.inReview),
    inDoubt: sumByAge(rows)
  }
}

function sumByAge(rows: readonly QueueStatus[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [age, count] of rows.flatMap(row => Object.entries(row.inDoubt))) sums[age] = (sums[age] ?? 0) + count
  return sums
}

function present(row: Total & { partition?: number }): Record<string, unknown> {
  return {
    ...(row.partition === undefined ? {} : { partition: row.partition }),
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

function textOf(
  rows: readonly QueueStatus[],
  total: Total,
  { workers, notifications }: { workers: number; notifications: number }
): string {
  const busy = rows.filter(row => row.length + row.scheduled + row.deadLetters + row.inReview > 0)
  const header = ['PARTITION', 'WAITING', 'IN WORK', 'OLDEST', 'WAKE-UPS', 'DUE', 'TO RECONCILE', 'DEAD', 'IN REVIEW']
  const lines = [...busy.map(row => cells(String(row.partition), row)), cells('all', total)]
  return `${table(header, lines, '')}\n\nLiving workers, each of which reads all partitions: ${workers}.\nNotifications of the network whose payment is not found yet: ${notifications}.`
}

function cells(name: string, row: Total): string[] {
  const oldest = row.oldestAgeMs === null ? '-' : `${(row.oldestAgeMs / 1_000).toFixed(1)} s`
  const { length, pending, scheduled, due, reconcileDue, deadLetters, inReview } = row
  return [
    name,
    String(length - pending),
    String(pending),
    oldest,
    ...[scheduled, due, reconcileDue, deadLetters, inReview].map(String)
  ]
}
