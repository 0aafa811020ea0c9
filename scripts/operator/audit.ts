/** `audit`: what operators have changed. */
import { Command } from 'commander'
import { type AuditedChange, listChanges } from '../../redis/operator/audit-trail.js'
import { time } from '../command-line/values.js'
import { table } from './table.js'
import type { VerbMaker } from './verb.js'

const EXAMPLES = `
An attempt without an outcome is of a command that died: look whether its change was made.

Examples:
  npm run --silent operator -- audit --since 2026-01-31T00:00:00Z
  npm run --silent operator -- audit k7h3m2x9q0c5f1a   # all about one key, merchant, payment`

export function auditCommand(verb: VerbMaker): Command {
  return verb<{ since?: number }>(
    new Command('audit'),
    {
      does: 'Every change by an operator, oldest first: when, who, what, why, and how it ended.',
      subject: ['target', 'only what is about this id'],
      isSubjectOptional: true
    },
    async ({ redis }, { since = 0 }, target) => {
      const changes = await listChanges(redis, { sinceMs: since, target: target === '' ? null : target })
      const header = ['TIME', 'ACTOR', 'CHANGE', 'OUTCOME', 'REASON']
      return {
        json: changes.map(present),
        text: table(header, changes.map(cells), 'No operator has changed anything.')
      }
    }
  )
    .option('--since <time>', 'only since then (ISO 8601)', time)
    .addHelpText('after', EXAMPLES)
}

function present({ auditId, atMs, actor, verb, target, options, reason, outcome }: AuditedChange) {
  return {
    audit_id: auditId,
    at: new Date(atMs).toISOString(),
    actor,
    verb,
    target: target || null,
    options,
    reason: reason || null,
    outcome: outcome?.outcome ?? null,
    detail: outcome?.detail || null
  }
}

function cells({ atMs, actor, verb, target, options, reason, outcome }: AuditedChange): string[] {
  const flags = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  const ended = outcome === null ? 'not known' : `${outcome.outcome} ${outcome.detail}`.trim()
  return [new Date(atMs).toISOString(), actor, [verb, target, ...flags].filter(Boolean).join(' '), ended, reason]
}
