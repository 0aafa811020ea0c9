/** What must hold of each write to the durable Redis. */
import { watchRemovals } from './audit-archive.js'
import { watchFailures } from './network-trouble.js'
import type { RedisData } from './redis-data.js'
import type { Installation } from './simulated-installation.js'

/** Looks at everything that is written: versions that don't follow each other are `violations`, events are noted. */
export function watchWrites(installation: Installation, violations: Set<string>): void {
  const newest = new Map<string, number>()
  installation.durable.watch = (args, data) => {
    watchVersions(args, data, newest, violations)
    watchRemovals(args, data, installation, violations)
    watchFailures(args, data, installation, violations)
    installation.written.note(args)
  }
}

/** Invariant 5: each write of a payment follows the one before, by any process; one that comes back is the newest. */
function watchVersions(
  args: readonly string[],
  data: RedisData,
  newest: Map<string, number>,
  violations: Set<string>
): void {
  const [name, key = '', text = ''] = args
  if (name !== 'SET' || !key.includes(':pay:')) return
  const stored = data.text(key)
  const before = stored === null ? 0 : versionIn(stored)
  const after = versionIn(text)
  const expected = stored === null ? (newest.get(key) ?? 1) : before + 1
  if (after !== expected) violations.add(`${key}: version ${after} overwrites version ${expected - 1}`)
  newest.set(key, after)
}

/** The version in the head of a payment's record. */
function versionIn(record: string): number {
  return Number(/^\[\d+,(\d+),/.exec(record)?.[1])
}
