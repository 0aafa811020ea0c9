/** `audit`: what operators have changed. */
import type { Command } from 'commander'
import { type AuditedChange, listChanges } from '../../redis/operator/audit-trail.js'
import { isUuid } from '../../runtime/uuid.js'
import { time } from '../command-line/values.js'
import { type Field, isoTime, listing } from './output.js'
import type { VerbMaker } from './verb.js'

const EXAMPLES = `
An attempt without an outcome belongs to a command that died. Look whether its change was made.

Examples:
  npm run --silent operator -- audit --since 2026-01-31T00:00:00Z
  npm run --silent operator -- audit k7h3m2x9q0c5f1a   # all about one key, merchant, payment`

export function auditCommand(program: Command, verb: VerbMaker): void {
  verb<{ since?: number }>(
    program.command('audit'),
    {
      does: 'Every change by an operator, oldest first: when, who, what, why, and how it ended.',
      subject: ['target', 'only what is about this id', idIn],
      isSubjectOptional: true
    },
    async ({ redis }, { since = 0 }, target) =>
      listing(
        await listChanges(redis, { sinceMs: since, target: target === '' ? null : target }),
        FIELDS,
        'No change by an operator is recorded.'
      )
  )
    .option('--since <time>', 'only since then (ISO 8601)', time)
    .addHelpText('after', EXAMPLES)
}

/** The ids of payments are recorded in lower case. */
function idIn(given: string): string {
  const id = given.toLowerCase()
  return isUuid(id) ? id : given
}

const FIELDS: readonly Field<AuditedChange>[] = [
  ['audit_id', ({ auditId }) => auditId, 'json'],
  ['at', ({ atMs }) => isoTime(atMs)],
  ['actor', ({ actor }) => actor],
  ['verb', ({ verb }) => verb],
  ['target', ({ target }) => target || null],
  ['options', ({ options }) => options],
  ['outcome', ({ outcome }) => outcome?.outcome ?? null],
  ['detail', ({ outcome }) => outcome?.detail || null],
  ['reason', ({ reason }) => reason || null]
]
