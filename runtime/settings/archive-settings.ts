/** Settings of the archive: payments that are at rest leave Redis (docs/decisions/0028-payments-at-rest-leave-redis.md). */
import { parsedUrl } from '../parsed-url.js'
import { integer, setting, undocumented } from '../setting.js'

export const archiveSettings = {
  archiveUrl: setting(
    'ARCHIVE_URL',
    ['api', 'payments', 'archive', 'operator'],
    '',
    'The PostgreSQL for payments at rest, such as `postgres://user:password@host/database`. Empty: all payments stay in Redis.',
    postgresUrl,
    'secret'
  ),
  archiveAfterDays: integer(
    'ARCHIVE_AFTER_DAYS',
    ['archive'],
    90,
    [1, 3_650],
    'Days that a payment rests in Redis before it moves to the archive.'
  ),
  archivePerSecond: undocumented(
    integer(
      'ARCHIVE_PER_SECOND',
      ['archive'],
      2_000,
      [1, 100_000],
      'Payments that move to the archive in a second, at most.'
    )
  ),
  archiveTimeoutMs: undocumented(
    integer(
      'ARCHIVE_TIMEOUT_MS',
      ['api', 'payments', 'archive', 'operator'],
      2_000,
      [50, 60_000],
      'Time for an answer of the archive (ms).'
    )
  ),
  archiveRetentionYears: integer(
    'ARCHIVE_RETENTION_YEARS',
    ['operator'],
    0,
    [0, 100],
    'Years after which `operator archive drop` may remove the payments of a month from the archive. 0: never.'
  )
} as const

function postgresUrl(value: string): string {
  const isPostgres = /^postgres(ql)?:$/.test(parsedUrl(value)?.protocol ?? '')
  if (value !== '' && !isPostgres) throw new RangeError('must be an address such as postgres://user@host:5432/database')
  return value
}
