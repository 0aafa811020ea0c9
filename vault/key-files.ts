/**
 * Creation and rotation of the key files of one installation: `vault-public-keys.json` for the processes that seal,
 * `vault-private-keys.json` for `payments`, `webhook-keys.json` for `api` and `webhooks`.
 *
 * A file is written whole or not at all. The private file of the vault is the truth and is written first; the public one
 * is derived from it. So a crash between the two leaves nothing sealed that can't be opened, and the next call completes
 * the pair.
 */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type KeyRing,
  publicHalf,
  readKeyRing,
  requireKey,
  withNewKey,
  withNextAsCurrent,
  withNextKey,
  withoutKey
} from './key-ring.js'
import { VaultError } from './vault-error.js'

/** Where the two halves of the vault's ring are. */
export interface KeyFiles {
  readonly publicFile: string
  readonly privateFile: string
}

/** Webhook keys have no public half. */
export interface WebhookKeyFile {
  readonly publicFile: null
  readonly privateFile: string
}

/** Who may read a key file. Without `owner` it belongs to the user who runs this. */
export interface Access {
  /** Such as 0o600. */
  readonly mode: number
  readonly owner?: { readonly uid: number; readonly gid: number }
}

type RingFiles = KeyFiles | WebhookKeyFile

/** The right to change the key files of a ring, while `withKeyLock` (key-lock.ts) lasts. */
export interface KeyLock {
  readonly files: RingFiles
}

const OWNER_ONLY: Access = { mode: 0o600 }

/** The vault's pair in a folder. */
export function keyFilesIn(dir: string): KeyFiles {
  return { publicFile: join(dir, 'vault-public-keys.json'), privateFile: join(dir, 'vault-private-keys.json') }
}

/** The file of the webhook keys in a folder. */
export function webhookKeyFileIn(dir: string): WebhookKeyFile {
  return { publicFile: null, privateFile: join(dir, 'webhook-keys.json') }
}

/**
 * Makes sure that the files (folder included) exist, with a first key. An existing ring is never replaced. Returns
 * the files. Throws `VaultError` `key_file` when only the public half is there: its private half was lost, or lies elsewhere.
 */
export function ensureKeyFiles<Files extends RingFiles>(files: Files, access = OWNER_ONLY): Files {
  const { privateFile, publicFile } = files
  makeFolder(dirname(privateFile), access)
  if (!existsSync(privateFile)) {
    if (publicFile !== null && existsSync(publicFile)) throw lostPrivateHalf(publicFile, privateFile)
    createWhole(privateFile, withNewKey(undefined, kindOf(files), Date.now()), access)
  }
  if (publicFile !== null && !existsSync(publicFile)) {
    createWhole(publicFile, publicHalf(readKeyRing(privateFile, 'private')), access)
  }
  return files
}

/** Makes the first key files of an installation; returns the id of the key. Throws `VaultError` `key_file` when one exists. */
export function initKeyFiles(files: RingFiles, access: Access): string {
  for (const file of [files.privateFile, files.publicFile]) {
    if (file === null || !existsSync(file)) continue
    throw new VaultError('key_file', `${file} exists already. Nothing was changed: name another folder.`)
  }
  return readKeyRing(ensureKeyFiles(files, access).privateFile, kindOf(files)).current
}

/** How a key is added. */
export interface Rotation {
  /** Adds a key only while this one is the current one, so that a rotation which was cut off can be repeated. */
  readonly ifCurrent?: string | undefined
  /** Receives the id of the new key before any file has it. When it rejects, nothing is written. */
  announce(keyId: string): Promise<void>
}

/**
 * Adds a key to the ring and makes it the current one; the old keys stay. Returns the id of the current key. Running
 * processes follow by themselves. Owner, group and mode of the files stay.
 *
 * Rejects with `VaultError` `key_file`, also when `ifCurrent` is no key of the ring, or when owner and group can't be kept.
 */
export async function addKey({ files }: KeyLock, { ifCurrent, announce }: Rotation): Promise<string> {
  const change = (ring: KeyRing): KeyRing => {
    if (ifCurrent !== undefined) requireKey(ring, ifCurrent)
    return ifCurrent !== undefined && ifCurrent !== ring.current ? ring : withNewKey(ring, kindOf(files), Date.now())
  }
  return (await changeRing(files, change, ({ current }) => announce(current))).current
}

/**
 * Adds a key to the vault's ring that opens and does not seal yet; a rotation that was cut off here keeps its key. Returns
 * the ring, whose `next` is absent when `ifCurrent` is not the current key any more. Rejects as `addKey`.
 */
export async function addNextKey({ files }: KeyLock, ifCurrent: string | undefined): Promise<KeyRing> {
  return await changeRing(files, ring => {
    if (ifCurrent !== undefined) requireKey(ring, ifCurrent)
    return ifCurrent !== undefined && ifCurrent !== ring.current ? ring : withNextKey(ring, Date.now())
  })
}

/** Makes the `next` key of the vault's ring the current one. `announce`: as for `addKey`. */
export async function useNextKey({ files }: KeyLock, { announce }: Pick<Rotation, 'announce'>): Promise<void> {
  await changeRing(
    files,
    ring => withNextAsCurrent(ring, Date.now()),
    ({ current }) => announce(current)
  )
}

/**
 * Takes an old key out of the files. What is still sealed with it is lost, so make sure that nothing is: by
 * `vault retire`, which looks at the stored cards. Rejects with `VaultError` `key_in_use` or `key_file`.
 */
export async function removeKey({ files }: KeyLock, keyId: string, nowMs: number): Promise<void> {
  await changeRing(files, ring => withoutKey(ring, keyId, nowMs))
}

function kindOf({ publicFile }: RingFiles): 'private' | 'webhook' {
  return publicFile === null ? 'webhook' : 'private'
}

/**
 * Writes drafts first, then calls `announce`, then puts the drafts in place. Looks once more before that: an editor that
 * knows no lock is not overwritten.
 */
async function changeRing(
  files: RingFiles,
  change: (ring: KeyRing) => KeyRing,
  announce: (after: KeyRing) => Promise<void> = async () => undefined
): Promise<KeyRing> {
  const { privateFile, publicFile } = files
  const before = readKeyRing(privateFile, kindOf(files))
  const after = change(before)
  const drafts: { file: string; draft: string }[] = []
  const addDraft = (file: string, ring: KeyRing): void => {
    drafts.push({ file, draft: writeDraft(file, ring, accessOf(existsSync(file) ? file : privateFile)) })
  }
  try {
    if (after !== before) addDraft(privateFile, after)
    if (publicFile !== null) addDraft(publicFile, publicHalf(after))
    if (after !== before) await announce(after)
    if (JSON.stringify(readKeyRing(privateFile, kindOf(files))) !== JSON.stringify(before)) throw changedBy(privateFile)
    for (const { file, draft } of drafts) {
      renameSync(draft, file)
      syncFolder(file)
    }
  } finally {
    for (const { draft } of drafts) rmSync(draft, { force: true })
  }
  return after
}

/** Leaves a file alone that exists by now: of two that create a ring at the same time, one wins and the other uses its ring. */
function createWhole(file: string, ring: KeyRing, access: Access): void {
  const draft = writeDraft(file, ring, access)
  try {
    linkSync(draft, file)
    syncFolder(file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}

function writeDraft(file: string, ring: KeyRing, access: Access): string {
  const draft = `${file}.${process.pid}.new`
  rmSync(draft, { force: true })
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeSync(descriptor, `${JSON.stringify(ring, null, 2)}\n`)
    giveAccess(descriptor, file, access)
    fsyncSync(descriptor)
  } catch (error) {
    rmSync(draft)
    throw error
  } finally {
    closeSync(descriptor)
  }
  return draft
}

/** A process that reads the file today must be able to read the new one. */
function giveAccess(descriptor: number, file: string, { mode, owner }: Access): void {
  const { uid, gid } = fstatSync(descriptor)
  try {
    if (owner !== undefined && (owner.uid !== uid || owner.gid !== gid)) fchownSync(descriptor, owner.uid, owner.gid)
    fchmodSync(descriptor, mode)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'refused'
    const ids = `${owner?.uid ?? uid}:${owner?.gid ?? gid}`
    throw new VaultError(
      'key_file',
      `${file} would not belong to user and group ${ids} any more (${reason}): a process could not read its keys. Run this as that user or as root. Nothing was changed.`
    )
  }
}

function accessOf(file: string): Access {
  const { mode, uid, gid } = statSync(file)
  return { mode: mode & 0o777, owner: { uid, gid } }
}

/** A folder that is made here belongs to those who read the files in it. */
function makeFolder(dir: string, access: Access): void {
  const isNew = mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined
  if (!isNew) return
  const descriptor = openSync(dir, 'r')
  try {
    // Who may read a file may enter its folder.
    giveAccess(descriptor, dir, { ...access, mode: access.mode | ((access.mode & 0o444) >> 2) })
  } finally {
    closeSync(descriptor)
  }
}

/** A new name survives a power loss only when its folder is on the disk too; a lost key would lose every stored card. */
function syncFolder(file: string): void {
  const descriptor = openSync(dirname(file), 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function changedBy(privateFile: string): VaultError {
  return new VaultError(
    'locked',
    `${privateFile} was changed by another program in this moment. Nothing was written: look at the file, and repeat this.`
  )
}

function lostPrivateHalf(publicFile: string, privateFile: string): VaultError {
  return new VaultError(
    'key_file',
    `${publicFile} exists without ${privateFile}. Restore the private file: without it, no card sealed so far can be opened. To begin anew, remove the public file.`
  )
}
