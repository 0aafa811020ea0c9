/** A unix user of its own for each process of the drill: numbers only, so that nothing is added to the system. */
import { spawnSync } from 'node:child_process'
import { chown } from 'node:fs/promises'
import type { UnixUser } from '../../scripts/start/process-group.js'

/** In no system's range of users, and below 65,536, which is all that some containers have. */
const FIRST_ID = 47_300
const NAMES: readonly string[] = [
  'api',
  'tokens',
  'notifications',
  'payments',
  'timers',
  'webhooks',
  'durable',
  'memory-only'
]
/** `api` and `webhooks` share the file that signing secrets come from, and therefore a group. */
const GROUPS: Readonly<Record<string, number>> = { api: FIRST_ID + NAMES.length, webhooks: FIRST_ID + NAMES.length }

export interface UnixUsers {
  /** Why all processes run as one user; undefined when each has its own. */
  readonly reason: string | undefined
  /** Undefined: the user of this process. */
  of(name: string): UnixUser | undefined
  /** Gives a file or folder to the user of `name`, and to its group. */
  own(path: string, name: string): Promise<void>
}

/** Only root may choose users, and they must be able to read what they run: the checkout, node and the Redis server. */
export function unixUsers(programs: readonly string[]): UnixUsers {
  const of = (name: string): UnixUser | undefined => {
    const index = NAMES.indexOf(name)
    return index < 0 ? undefined : { uid: FIRST_ID + index, gid: GROUPS[name] ?? FIRST_ID + index }
  }
  const reason = reasonAgainst(programs, of('api'))
  if (reason !== undefined) return { reason, of: () => undefined, own: async () => undefined }
  return {
    reason,
    of,
    async own(path, name) {
      const user = of(name)
      if (user !== undefined) await chown(path, user.uid, user.gid)
    }
  }
}

function reasonAgainst(programs: readonly string[], user: UnixUser | undefined): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may run processes as other users'
  const script = 'for file; do test -r "$file" || { echo "$file"; exit 1; }; done'
  const { status, stdout, error } = spawnSync('/bin/sh', ['-c', script, 'sh', ...programs], { ...user })
  if (error !== undefined) return `no process can be run as another user (${error.message})`
  return status === 0 ? undefined : `another user cannot read ${stdout.toString().trim()}`
}
