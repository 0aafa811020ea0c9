/**
 * The ids of the keys that belong to this installation, recorded in the durable Redis: one list per kind of key, the
 * newest last. An id is the fingerprint of a key (vault/key-ring.ts), so a key file of another installation is noticed
 * before anything is sealed, opened or signed with it.
 *
 * Who writes: the process that begins with new data (`payments` for the vault, `api` for webhook secrets) and the
 * operator's rotations. A rotation records its key before any file has it.
 */
import type { ProcessContext } from '../../runtime/lifecycle.js'
import type { Redis } from '../connection/connections.js'
import { rejectAsUnreachable } from '../connection/unreachable.js'
import { keys } from '../keys.js'
import { DamagedValue, required, storedValue, textList } from '../stored-fields.js'

export type KeyKind = 'vault' | 'webhook'

export const storedKeyIds = storedValue<{ readonly ids: readonly string[] }>('key record', {
  ids: [required, textList]
})

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

export interface KeyUse {
  /** The keys of this file are recorded when none are. */
  readonly isFirst?: boolean
  /** What the newest key has sealed, or has to sign, waits for a process that has it: it is a problem to lack it. */
  readonly needsNewest?: boolean
  /** The process works without the file, but for a part: what can't be read any more is a warning. */
  readonly isOptional?: boolean
}

/**
 * Rejects when the key file of this process belongs to another installation, and makes that a check of /readyz, together
 * with a file that can't be read any more. A key that other machines have and this file lacks is a warning.
 */
export async function requireOwnKeys(
  redis: Redis,
  kind: KeyKind,
  file: KeysInUse,
  { onReadyCheck, onWarning, onFact }: Pick<ProcessContext, 'onReadyCheck' | 'onWarning' | 'onFact'>,
  { isFirst = false, needsNewest = false, isOptional = false }: KeyUse = {}
): Promise<void> {
  if (isFirst) await recordFirstKeys(redis, kind, file.keyIds())
  await assertOwnKeys(redis, kind, file.keyIds())
  onFact(keyFact(kind), () => file.keyIds().current)
  onFact(allKeysFact(kind), () => file.keyIds().all.join(' '))
  /** Reads a changed file first. */
  const missing = async (): Promise<{ newest: string[]; older: string[] }> => {
    file.keyProblem()
    const [recorded, { all }] = [await recordedKeys(redis, kind), file.keyIds()]
    const lacks = (id: string): boolean => !all.includes(id)
    return { newest: recorded.slice(-1).filter(lacks), older: recorded.slice(0, -1).filter(lacks) }
  }
  const sentence = (ids: readonly string[]): string | undefined =>
    ids.length === 0
      ? undefined
      : `The ${kind} key file of this process lacks ${ids.join(', ')}: bring it the file of the last rotation (docs/SECURITY.md).`
  onReadyCheck(`${kind} keys`, async () => {
    const problem = isOptional ? undefined : file.keyProblem()
    await assertOwnKeys(redis, kind, file.keyIds())
    return problem ?? (needsNewest ? sentence((await missing()).newest) : undefined)
  })
  onWarning(`${kind} keys`, async () => {
    const { newest, older } = await missing()
    return (isOptional ? file.keyProblem() : undefined) ?? sentence(needsNewest ? older : [...older, ...newest])
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

/** The ids, the newest last; none before the first process has started on this data. Rejects with a sentence for operators. */
export async function recordedKeys(redis: Redis, kind: KeyKind): Promise<readonly string[]> {
  return (await readKeyRecord(redis, kind)).ids
}

/** Records the keys of the first file that is used with this data; later calls change nothing. */
export async function recordFirstKeys(redis: Redis, kind: KeyKind, { current, all }: KeyIds): Promise<void> {
  const ids = [...all.filter(id => id !== current), current]
  await redis.setnx(keys.keyRecord(kind), storedKeyIds.encode({ ids }))
}

/** The ids, and the text that they were read from; null before the first process has started on this data. */
export async function readKeyRecord(
  redis: Redis,
  kind: KeyKind
): Promise<{ readonly text: string | null; readonly ids: readonly string[] }> {
  const name = keys.keyRecord(kind)
  const text = await redis.get(name).catch(rejectAsUnreachable(redis))
  try {
    return { text, ids: text === null ? [] : storedKeyIds.decode(text).ids }
  } catch (error) {
    if (!(error instanceof DamagedValue)) throw error
    const first = kind === 'vault' ? 'payments' : 'api'
    throw new Error(
      `${name} in the data of REDIS_URL is damaged. Once the ${kind} key file is known to be the right one, delete ${name} and start \`${first}\` first (docs/SECURITY.md).`,
      { cause: error }
    )
  }
}
