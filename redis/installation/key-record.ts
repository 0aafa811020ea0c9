/**
 * The ids of the keys that belong to this installation, recorded in the durable Redis: one string per kind of key, the
 * newest last. An id is the fingerprint of a key (vault/key-ring.ts), so a key file of another installation is noticed
 * before anything is sealed, opened or signed with it.
 *
 * Who writes: the process that begins with new data (`payments` for the vault, `api` for webhook secrets) and the
 * operator's rotations. A rotation records its key before any file has it.
 */
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Redis } from '../connection/connections.js'
import { keys } from '../keys.js'

export type KeyKind = 'vault' | 'webhook'

/** The keys of one file: those of vault/watched-keys.ts. */
export interface KeysInUse {
  keyIds(): KeyIds
  keyProblem(): string | undefined
}

interface KeyIds {
  readonly current: string
  readonly all: readonly string[]
}

/** The fact of /readyz with the id of the current key. */
export function keyFact(kind: KeyKind): string {
  return `${kind} key`
}

/** The fact of /readyz with the ids of all keys that the process has, separated by spaces. */
export function allKeysFact(kind: KeyKind): string {
  return `${kind} keys`
}

/**
 * Rejects when the key file of this process belongs to another installation, and makes that a check of /readyz, together
 * with a file that can't be read any more. A key that other machines have and this file lacks is a warning.
 * `isFirst`: the keys of this file are recorded when none are.
 */
export async function requireOwnKeys(
  redis: Redis,
  kind: KeyKind,
  file: KeysInUse,
  { onReadyCheck, onWarning, onFact }: Pick<ProcessContext, 'onReadyCheck' | 'onWarning' | 'onFact'>,
  isFirst = false
): Promise<void> {
  if (isFirst) await recordFirstKeys(redis, kind, file.keyIds())
  await assertOwnKeys(redis, kind, file.keyIds())
  onFact(keyFact(kind), () => file.keyIds().current)
  onFact(allKeysFact(kind), () => file.keyIds().all.join(' '))
  onReadyCheck(`${kind} keys`, async () => {
    const problem = file.keyProblem()
    await assertOwnKeys(redis, kind, file.keyIds())
    return problem
  })
  onWarning(`${kind} keys`, async () => {
    const { all } = file.keyIds()
    const missing = (await recordedKeys(redis, kind)).filter(id => !all.includes(id))
    if (missing.length === 0) return undefined
    return `The ${kind} key file of this process lacks ${missing.join(', ')}: bring it the file of the last rotation (docs/SECURITY.md).`
  })
}

/**
 * Rejects when the keys belong to another installation. A copy from before a rotation passes, for machines that get the
 * new file late; and so does a file that is newer than a restored Redis.
 */
export async function assertOwnKeys(redis: Redis, kind: KeyKind, { current, all }: KeyIds): Promise<void> {
  const recorded = await recordedKeys(redis, kind)
  const newest = recorded.at(-1)
  if (newest === undefined || recorded.includes(current) || all.includes(newest)) return
  throw new Error(
    `The ${kind} key file with the current key ${current} belongs to another installation, or is outdated: the data of REDIS_URL belongs to key ${newest}. Give this process the key file of this installation (docs/SECURITY.md).`
  )
}

/** The ids, the newest last; none before the first process has started on this data. */
export async function recordedKeys(redis: Redis, kind: KeyKind): Promise<readonly string[]> {
  const record = (await redis.get(keys.keyRecord(kind))) ?? ''
  return record.split(' ').filter(id => id !== '')
}

/** Records the keys of the first file that is used with this data; later calls change nothing. */
export async function recordFirstKeys(redis: Redis, kind: KeyKind, { current, all }: KeyIds): Promise<void> {
  await redis.setnx(keys.keyRecord(kind), [...all.filter(id => id !== current), current].join(' '))
}

/** Records the key of a rotation. A rotation that was cut off records it once. */
export async function recordNewKey(redis: Redis, kind: KeyKind, keyId: string): Promise<void> {
  if ((await recordedKeys(redis, kind)).includes(keyId)) return
  await redis.append(keys.keyRecord(kind), ` ${keyId}`)
}

/** Takes a key that is retired out of the record. */
export async function forgetKey(redis: Redis, kind: KeyKind, keyId: string): Promise<void> {
  const left = (await recordedKeys(redis, kind)).filter(id => id !== keyId)
  await redis.set(keys.keyRecord(kind), left.join(' '))
}
