/** What can be wrong with the PostgreSQL of the archive, and what `operator doctor` must say of it. */
import { freePort } from '../../../scripts/start/ports.js'
import { until } from '../../support/conditions.js'
import type { TestPostgres } from '../../support/postgres.js'
import type { Breakage, Fault } from './doctor-fault.js'

export const faultsOfArchive: readonly Fault[] = [
  {
    name: 'an archive that is away',
    break: async ({ postgres }) => at(postgres, { port: String(await freePort()) }),
    check: 'archive',
    found: /ECONNREFUSED/,
    mend: /Start PostgreSQL/
  },
  {
    name: 'a wrong password of the archive',
    break: ({ postgres }) => at(postgres, { password: 'wrong' }),
    check: 'archive',
    found: /password authentication failed/,
    mend: /Correct user and password in ARCHIVE_URL/
  },
  {
    name: 'a database of the archive that is not there',
    break: ({ postgres }) => at(postgres, { pathname: '/nothing' }),
    check: 'archive',
    found: /database "nothing" does not exist/,
    mend: /Make the database/
  },
  {
    name: 'tables of an older version',
    break: ({ postgres }) =>
      changed(
        postgres,
        `DELETE FROM schema_migrations WHERE name = '0002-exports.sql'`,
        `INSERT INTO schema_migrations (name) VALUES ('0002-exports.sql')`
      ),
    check: 'tables of the archive',
    found: /did not run: 0002-exports\.sql/,
    mend: /Start `archive` of this version/
  },
  {
    name: 'an archive without any table',
    break: ({ postgres }) => at(postgres, { pathname: '/postgres' }),
    check: 'tables of the archive',
    found: /did not run: 0001-payments\.sql, 0002/,
    mend: /Start `archive`/
  },
  {
    name: 'an archive that does not wait for the disk',
    break: ({ postgres }) => setting(postgres, 'fsync'),
    check: 'durability of the archive',
    found: /fsync is off\. .* may lose payments/,
    mend: /ALTER SYSTEM/
  },
  {
    name: 'an archive that writes torn pages',
    break: ({ postgres }) => setting(postgres, 'full_page_writes'),
    check: 'durability of the archive',
    found: /full_page_writes is off/,
    mend: /ALTER SYSTEM/
  },
  {
    name: 'an archive that answers before the disk has it',
    break: ({ postgres }) => setting(postgres, 'synchronous_commit'),
    check: 'durability of the archive',
    state: 'warning',
    found: /synchronous_commit is off/,
    mend: /ALTER SYSTEM/
  },
  {
    name: 'a user of the archive without rights',
    break: ({ postgres }) => asUser(postgres, ''),
    check: 'rights in the archive',
    found: /user doctor_user lacks SELECT on payments, INSERT .* UPDATE .* EXECUTE on add_months_of/,
    mend: /GRANT what the sentence names/
  },
  {
    name: 'a role of the archive without a right',
    break: ({ postgres }) =>
      changed(postgres, 'REVOKE UPDATE ON payments FROM archive_writer', 'GRANT UPDATE ON payments TO archive_writer'),
    check: 'rights in the archive',
    found: /archive_writer .* lacks UPDATE on payments\./,
    mend: /GRANT what the sentence names/
  },
  {
    name: 'an operator who could not drop a month',
    break: async ({ postgres }) => withEnv(await asUser(postgres, 'IN ROLE archive_writer'), RETENTION),
    check: 'rights in the archive',
    state: 'warning',
    found: /doctor_user does not own the tables/,
    mend: /ARCHIVE_URL of the process archive/
  },
  {
    name: 'months that are due',
    break: async ({ postgres }) =>
      withEnv(
        await changed(
          postgres,
          `SELECT add_months_of(ARRAY[first_payment_id('2001-02-03'), first_payment_id('2001-03-03')])`,
          'DROP TABLE payments_2001_02, payments_2001_03'
        ),
        RETENTION
      ),
    check: 'retention of the archive',
    state: 'warning',
    found: /Older than 5 years: 2001-02, 2001-03\./,
    mend: /archive drop MONTH/
  },
  {
    name: 'a superuser who writes payments in live',
    break: ({ postgres }) => withEnv(at(postgres, {}), { SERVICE_ENV: 'live' }),
    check: 'user of the archive',
    found: /is a superuser/,
    mend: /Use a user of its own/
  }
]

const RETENTION = { ARCHIVE_RETENTION_YEARS: '5' }

/** The settings for an archive whose address is changed. */
function at(postgres: TestPostgres, change: Partial<URL>): Breakage {
  return { env: { ARCHIVE_URL: Object.assign(new URL(postgres.url), change).href } }
}

function withEnv(breakage: Breakage, env: NodeJS.ProcessEnv): Breakage {
  return { ...breakage, env: { ...breakage.env, ...env } }
}

async function changed(postgres: TestPostgres, statement: string, undo: string): Promise<Breakage> {
  await postgres.ask(statement)
  return { ...at(postgres, {}), undo: () => postgres.ask(undo) }
}

/** Switches a setting of the server off. */
async function setting(postgres: TestPostgres, name: string): Promise<Breakage> {
  const reloaded = async (wanted: 'on' | 'off'): Promise<void> => {
    await postgres.ask('SELECT pg_reload_conf()')
    await until(`${name} is ${wanted}`, async () => {
      const [row] = await postgres.ask('SELECT current_setting($1) AS value', [name])
      return row?.['value'] === wanted
    })
  }
  await postgres.ask(`ALTER SYSTEM SET ${name} TO off`)
  await reloaded('off')
  const undo = async (): Promise<void> => {
    await postgres.ask(`ALTER SYSTEM RESET ${name}`)
    await reloaded('on')
  }
  return { ...at(postgres, {}), undo }
}

async function asUser(postgres: TestPostgres, options: string): Promise<Breakage> {
  await postgres.ask(`CREATE ROLE doctor_user LOGIN PASSWORD 'secret' ${options}`)
  const { env } = at(postgres, { username: 'doctor_user', password: 'secret' })
  return { ...(env === undefined ? {} : { env }), undo: () => postgres.ask('DROP ROLE doctor_user') }
}
