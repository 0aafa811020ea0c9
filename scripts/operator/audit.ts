/** `audit`: what operators have changed. */
import { Command } from 'commander'
import { type AuditedChange, listChanges } from '../../redis/operator/audit-trail.js'
import { time } from '../command-line/values.js'
import { isoTime, listing } from './output.js'
import type { VerbMaker } from './verb.js'

const EXAMPLES = `
An attempt whose outcome is not known belongs to a command that died. Look whether its change was made.

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
    async ({ redis }, { since = 0 }, target) =>
      listing(
        await listChanges(redis, { sinceMs: since, target: target === '' ? null : target }),
        present,
        { TIME: 'at', ACTOR: 'actor', CHANGE: changeText, OUTCOME: outcomeText, REASON: ({ reason }) => reason },
        'No change by an operator is recorded.'
      )
  )
    .option('--since <time>', 'only since then (ISO 8601)', time)
    .addHelpText('after', EXAMPLES)
}

function present({ auditId, atMs, actor, verb, target, options, reason, outcome }: AuditedChange) {
  return {
    audit_id: auditId,
    at: isoTime(atMs),
    actor,
    verb,
    target: target || null,
    options,
    reason: reason || null,
    outcome: outcome?.outcome ?? null,
    detail: outcome?.detail || null
  }
}

function changeText({ verb, target, options }: AuditedChange): string {
  const flags = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  return [verb, target, ...flags].filter(Boolean).join(' ')
}

function outcomeText({ outcome }: AuditedChange): string {
  return outcome === null ? 'not known' : `${outcome.outcome} ${outcome.detail}`.trim()
}
