/** Brings the tables of the archive to the state that this version needs. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { withClient } from './postgres.js'

const folder = new URL('../../archive/migrations/', import.meta.url)

/**
 * Runs the files of migrations/ that this database has not seen, in one transaction; a second caller waits for the first.
 * Files only add (tables, columns with a default, views), so that the previous version can run beside this one. They may
 * take longer than a query may. Resolves to the names of the files that ran.
 */
export async function migrate(archiveUrl: string, connectTimeoutMs: number): Promise<string[]> {
  const options = { connectionString: archiveUrl, connectionTimeoutMillis: connectTimeoutMs }
  return await withClient(options, async client => {
    await client.query('BEGIN')
    await client.query(`SELECT pg_advisory_xact_lock(hashtext('payments archive'), 1)`)
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`
    )
    const missing = await missingMigrations(client)
    for (const name of missing) {
      await client.query(readFileSync(new URL(name, folder), 'utf8'))
      await client.query('INSERT INTO schema_migrations (name) VALUES ($1)', [name])
    }
    await client.query('COMMIT')
    return missing
  })
}

/** The migrations of this version that did not run in this database, in their order. Needs the table of those that did. */
export async function missingMigrations(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM schema_migrations')
  return migrationNames().filter(name => !rows.some(ran => ran.name === name))
}

/** The migrations of this version, in their order. */
export function migrationNames(): string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()
}
