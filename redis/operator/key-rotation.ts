/** What a rotation changes in the record of the keys of an installation (installation/key-record.ts). */
import type { Redis } from '../connection/connections.js'
import { type KeyKind, readKeyRecord, storedKeyIds } from '../installation/key-record.js'
import { keys } from '../keys.js'
import { replaceRecord } from '../replace-record.js'

/** Records the key of a rotation. A rotation that was cut off records it once. */
export async function recordNewKey(redis: Redis, kind: KeyKind, keyId: string): Promise<void> {
  await change(redis, kind, ids => (ids.includes(keyId) ? ids : [...ids, keyId]))
}

/** Takes a key that is retired out of the record. */
export async function forgetKey(redis: Redis, kind: KeyKind, keyId: string): Promise<void> {
  await change(redis, kind, ids => ids.filter(id => id !== keyId))
}

/** Repeated when another operator was first. */
async function change(
  redis: Redis,
  kind: KeyKind,
  idsAfter: (ids: readonly string[]) => readonly string[]
): Promise<void> {
  for (;;) {
    const { text, ids } = await readKeyRecord(redis, kind)
    const after = storedKeyIds.encode({ ids: idsAfter(ids) })
    if (await replaceRecord(redis, keys.keyRecord(kind), text, after)) return
  }
}
