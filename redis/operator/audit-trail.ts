/**
 * What operators change, who they are, and why: one stream without a limit (about 300 bytes a change).
 *
 * An attempt is written before the change, its outcome after it: on a Cluster no script can write both the trail and the
 * changed keys. A process that dies between the two leaves an attempt without an outcome; the change may have been made.
 */
import { isRecord, parseJson } from '../../runtime/json.js'
import type { Redis } from '../connection/connections.js'
import { fieldsOf } from '../connection/reply-fields.js'
import { keys } from '../keys.js'

/** A change that an operator asks for. */
export interface ChangeAttempt {
  readonly actor: string
  /** Noun and verb, such as `key revoke`. */
  readonly verb: string
  /** What the change is about; '' where the verb has no subject. */
  readonly target: string
  /** The further options of the command line. */
  readonly options: Readonly<Record<string, unknown>>
  /** '' when none was given. */
  readonly reason: string
}

export interface ChangeOutcome {
  readonly outcome: 'done' | 'failed'
  /** The id of what was made, or why it failed; '' otherwise. */
  readonly detail: string
}

export interface AuditedChange extends ChangeAttempt {
  readonly auditId: string
  readonly atMs: number
  /** Null: the command died before it knew; the change may have been made. */
  readonly outcome: ChangeOutcome | null
}

const PAGE = 1_000

/** Resolves to the id by which the outcome is recorded. */
export async function recordAttempt(
  redis: Redis,
  { actor, verb, target, options, reason }: ChangeAttempt
): Promise<string> {
  const fields = { actor, verb, target, options: JSON.stringify(options), reason }
  const auditId = await redis.xadd(keys.operatorAudit(), '*', ...Object.entries(fields).flat())
  if (auditId === null) throw new Error('unreachable: XADD without NOMKSTREAM answers an id')
  return auditId
}

export async function recordOutcome(redis: Redis, auditId: string, { outcome, detail }: ChangeOutcome): Promise<void> {
  await redis.xadd(keys.operatorAudit(), '*', 'of', auditId, 'outcome', outcome, 'detail', detail)
}

/** The changes since `sinceMs`, oldest first; `target` null: of everything. Also what a change made is its target. */
export async function listChanges(
  redis: Redis,
  { sinceMs, target }: { readonly sinceMs: number; readonly target: string | null }
): Promise<AuditedChange[]> {
  const changes = new Map<string, AuditedChange>()
  let from = String(sinceMs)
  for (;;) {
    const entries = await redis.xrange(keys.operatorAudit(), from, '+', 'COUNT', PAGE)
    for (const [entryId, pairs] of entries) collect(changes, entryId, fieldsOf(pairs))
    const last = entries.at(-1)?.[0]
    if (last === undefined || entries.length < PAGE) break
    from = `(${last}`
  }
  return [...changes.values()].filter(change => target === null || isAbout(change, target))
}

function collect(changes: Map<string, AuditedChange>, entryId: string, fields: ReadonlyMap<string, string>): void {
  const textOf = (name: string): string => fields.get(name) ?? ''
  const attempt = changes.get(textOf('of'))
  if (attempt !== undefined) {
    const outcome = textOf('outcome') === 'done' ? 'done' : 'failed'
    changes.set(attempt.auditId, { ...attempt, outcome: { outcome, detail: textOf('detail') } })
  } else if (!fields.has('of')) {
    changes.set(entryId, {
      auditId: entryId,
      atMs: Number(entryId.split('-')[0]),
      actor: textOf('actor'),
      verb: textOf('verb'),
      target: textOf('target'),
      options: optionsIn(textOf('options')),
      reason: textOf('reason'),
      outcome: null
    })
  }
}

/** Damaged options are shown as they are: they hide neither the change nor the others. */
function optionsIn(text: string): Readonly<Record<string, unknown>> {
  const options = parseJson(text)
  return isRecord(options) ? options : { damaged: text }
}

function isAbout({ target, options, outcome }: AuditedChange, wanted: string): boolean {
  return [target, outcome?.detail, ...Object.values(options)].includes(wanted)
}
