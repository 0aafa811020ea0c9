/** What `vault` and `webhook-keys` have in common: the verb `init`, and the check that keys are of this installation. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Redis } from '../../redis/connection/connections.js'
import { assertOwnKeys, type KeyKind, recordFirstKeys } from '../../redis/installation/key-record.js'
import { type Access, initKeyFiles, type KeyFiles, type WebhookKeyFile } from '../../vault/key-files.js'
import type { KeyRing } from '../../vault/key-ring.js'
import type { VerbMaker } from './verb.js'

interface InitOptions {
  readonly mode?: number
  readonly owner?: Access['owner']
}

type RingFiles = KeyFiles | WebhookKeyFile

export const IF_CURRENT = [
  '--if-current <id>',
  'add a key only while this one is the current one; such a command may be repeated'
] as const

/** Adds the verb `init`, which makes the files that `filesIn` names in a folder. */
export function addInit(noun: Command, verb: VerbMaker, filesIn: (dir: string) => RingFiles): void {
  const does = 'Make the first key files of an installation, in a folder that is made if it is missing. Needs no Redis.'
  const subject = ['folder', 'where the files go; existing ones are never replaced'] as const
  verb
    .local<InitOptions>(noun.command('init'), { does, subject }, ({ mode = 0o600, owner }, folder) => {
      const files = filesIn(folder)
      const keyId = initKeyFiles(files, owner === undefined ? { mode } : { mode, owner })
      const names = [files.privateFile, files.publicFile].filter(file => file !== null)
      const list = names.map(file => `  ${file}`).join('\n')
      return {
        json: { key_id: keyId, files: names },
        text: `Key ${keyId} is in:\n${list}\nKeep a copy, but not beside the backups of Redis.`
      }
    })
    .option('--mode <mode>', '600, or 640 for files that a group may read; 600 unless given', parseMode)
    .option('--owner <uid:gid>', 'user and group of the files, as numbers; yours unless given', parseOwner)
}

/** Rejects when the keys are not those of this installation; the keys of a new one are recorded. */
export async function requireOwnRing(redis: Redis, kind: KeyKind, ring: KeyRing): Promise<void> {
  await recordFirstKeys(redis, kind, idsOf(ring))
  await assertOwnKeys(redis, kind, idsOf(ring))
}

/** The ids of a ring, as redis/installation/key-record.ts compares them. */
export function idsOf({ current, keys }: KeyRing): { readonly current: string; readonly all: readonly string[] } {
  return { current, all: Object.keys(keys) }
}

function parseMode(text: string): number {
  if (text !== '600' && text !== '640') throw new InvalidArgumentError('Give 600 or 640.')
  return Number.parseInt(text, 8)
}

function parseOwner(text: string): Access['owner'] {
  const [, uid, gid] = /^(\d{1,10}):(\d{1,10})$/.exec(text) ?? []
  if (uid === undefined || gid === undefined) {
    throw new InvalidArgumentError('Give two numbers, such as 1001:1001 ("$(id -u payments):$(id -g payments)").')
  }
  return { uid: Number(uid), gid: Number(gid) }
}
