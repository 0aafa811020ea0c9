/** `archive status|export|drop`: the months of the archive, and the end of a month after its retention. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { type ArchivedMonth, type ArchiveMonths, type Month, openArchiveMonths } from '../../archive/months.js'
import { requireNewFile, writeExport } from './archive-export.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { droppableFromMs, parseMonth } from './month.js'
import { progressBar } from './progress-bar.js'
import { table } from './table.js'
import type { OperatorWorld, Output, VerbMaker } from './verb.js'

const MONTH = ['month', 'month of creation in UTC, such as 2024-03'] as const

const EXAMPLES = `
Export and drop need the owner of the tables: ARCHIVE_URL of the process archive. docs/ARCHIVE.md has the way back.

Examples:
  npm run --silent operator -- archive status
  npm run --silent operator -- archive export 2024-03 --file /backup/payments-2024-03.ndjson
  npm run --silent operator -- archive drop 2024-03 --yes --reason "retention of 10 years"`

export function archiveCommand(verb: VerbMaker): Command {
  const noun = new Command('archive').description('Payments that left Redis for PostgreSQL, by month of creation.')
  verb(
    noun.command('status'),
    { does: 'Each month: payments, size, whether it is exported, and when it may be dropped. Reads all of them.' },
    (connection, _, __, world) => withMonths(connection, months => status(connection, months, world))
  )
  verb<{ file: string }>(
    noun.command('export'),
    {
      does: 'Write the payments of a month into a file, one JSON object a line.',
      subject: MONTH,
      change: 'can_be_undone'
    },
    (connection, { file }, month, world) =>
      withMonths(connection, months => exportMonth(months, parseMonth(month), resolve(file), world))
  ).requiredOption('--file <file>', 'a new file, on a disk with room for the month: see archive status')
  verb(
    noun.command('drop'),
    {
      does: 'Remove the payments of a month that is older than ARCHIVE_RETENTION_YEARS, and exported as it is.',
      subject: MONTH,
      change: 'for_ever'
    },
    (connection, _, month) => withMonths(connection, months => drop(connection, months, parseMonth(month)))
  )
  return noun.addHelpText('after', EXAMPLES)
}

async function withMonths(
  { archiveUrl, config }: OperatorConnection,
  work: (months: ArchiveMonths) => Promise<Output>
): Promise<Output> {
  if (archiveUrl === '') {
    throw new Error('This installation has no archive: ARCHIVE_URL is not set, and all payments are in Redis.')
  }
  const months = await openArchiveMonths(archiveUrl, config.archiveTimeoutMs)
  try {
    return await work(months)
  } finally {
    await months.close()
  }
}

async function status(
  connection: OperatorConnection,
  months: ArchiveMonths,
  { terminal }: OperatorWorld
): Promise<Output> {
  const nowMs = await serviceNowMs(connection)
  const names = await months.list()
  const rows: { found: ArchivedMonth; droppableMs: number | null }[] = []
  for (const [index, month] of names.entries()) {
    terminal?.(progressBar(index / names.length, `reading ${month}`))
    const found = await months.show(month)
    const droppableMs = droppableFromMs(month, connection.config.archiveRetentionYears)
    if (found !== null) rows.push({ found, droppableMs })
  }
  terminal?.('')
  const header = ['MONTH', 'PAYMENTS', 'MB', 'OLDEST', 'NEWEST', 'BACK IN REDIS', 'EXPORTED', 'MAY BE DROPPED']
  return {
    json: rows.map(({ found, droppableMs }) => present(found, droppableMs, nowMs)),
    text: table(
      header,
      rows.map(({ found, droppableMs }) => cells(found, droppableMs, nowMs)),
      'The archive is empty.'
    )
  }
}

function present(found: ArchivedMonth, droppableMs: number | null, nowMs: number) {
  const { month, payments, bytes, oldestMs, newestMs, returned, lastExport, isExported } = found
  return {
    month,
    payments,
    bytes,
    oldest: timeOf(oldestMs),
    newest: timeOf(newestMs),
    back_in_redis: returned,
    exported_at: timeOf(lastExport?.exportedAtMs ?? null),
    sha256: lastExport?.sha256 ?? null,
    is_unchanged: lastExport === null ? null : isExported,
    droppable_from: timeOf(droppableMs),
    is_droppable: isExported && droppableMs !== null && droppableMs <= nowMs,
    dropped_at: timeOf(lastExport?.droppedAtMs ?? null)
  }
}

const MEGABYTE = 1_000_000

function cells(found: ArchivedMonth, droppableMs: number | null, nowMs: number): string[] {
  const { month, payments, bytes, oldestMs, newestMs, returned, lastExport, isExported } = found
  const exported = lastExport === null ? 'no' : dayOf(lastExport.exportedAtMs)
  const state = lastExport === null || isExported ? '' : ', changed since'
  const droppable = droppableMs === null ? 'never' : `${droppableMs <= nowMs ? 'since' : 'from'} ${dayOf(droppableMs)}`
  const isGone = bytes === 0 && lastExport?.droppedAtMs != null
  const figures = [payments, Math.ceil(bytes / MEGABYTE)].map(String)
  return [
    month,
    ...figures,
    dayOf(oldestMs),
    dayOf(newestMs),
    String(returned),
    isGone ? exported : exported + state,
    isGone ? `dropped ${dayOf(lastExport.droppedAtMs)}` : droppable
  ]
}

async function exportMonth(
  months: ArchiveMonths,
  month: Month,
  file: string,
  { terminal }: OperatorWorld
): Promise<Output> {
  requireNewFile(file)
  const content = await months
    .read(month, snapshot =>
      writeExport(file, snapshot, written =>
        terminal?.(progressBar(written / Math.max(snapshot.payments, 1), `${written} payments exported`))
      )
    )
    .finally(() => terminal?.(''))
  if (content === null) throw new Error(`The archive has no payments of ${month}. Nothing was exported.`)
  await months.noteExport(month, content).catch((error: Error) => {
    throw new Error(`${file} is complete, but the archive does not know of it. Remove it, and repeat. ${error.message}`)
  })
  const { payments, sha256 } = content
  return {
    json: { month, payments, file, sha256 },
    text: `Exported ${month}: ${payments} payments, SHA-256 ${sha256}, in\n  ${file}\nThe file names buyers: keep it like a backup.`,
    made: sha256
  }
}

async function drop(connection: OperatorConnection, months: ArchiveMonths, month: Month): Promise<Output> {
  const { archiveRetentionYears: years } = connection.config
  const droppableMs = droppableFromMs(month, years)
  if (droppableMs === null) {
    throw new Error('ARCHIVE_RETENTION_YEARS is 0: the archive keeps all payments. Nothing was dropped.')
  }
  if (droppableMs > (await serviceNowMs(connection))) {
    throw new Error(
      `${month} may be dropped from ${dayOf(droppableMs)} (ARCHIVE_RETENTION_YEARS is ${years}). Nothing was dropped.`
    )
  }
  const { kind, month: found } = await months.drop(month)
  const lastExport = found?.lastExport ?? null
  const again = `Export it (archive export ${month} --file FILE), and then drop it.`
  if (kind === 'never_exported') throw new Error(`${month} was never exported. Nothing was dropped. ${again}`)
  if (kind === 'changed') {
    throw new Error(`${month} has changed since its export. Nothing was dropped. ${again}`)
  }
  if (kind === 'absent' && (lastExport === null || lastExport.droppedAtMs === null)) {
    throw new Error(`The archive has no payments of ${month}. Nothing was dropped.`)
  }
  const { payments = 0, sha256 = '' } = lastExport ?? {}
  const when = kind === 'dropped' ? 'Dropped' : `Dropped before, on ${dayOf(lastExport?.droppedAtMs ?? null)}:`
  return {
    json: { month, dropped: kind === 'dropped', payments, sha256 },
    text: `${when} ${month}: ${payments} payments, which the export with SHA-256 ${sha256} has.`
  }
}

function timeOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}

function dayOf(atMs: number | null): string {
  return timeOf(atMs)?.slice(0, 10) ?? '-'
}
