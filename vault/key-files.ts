/**
 * Creation and rotation of the key files of one installation: `vault-public-keys.json` for the processes that seal,
 * `vault-private-keys.json` for `payments`, `webhook-keys.json` for `api` and `webhooks`.
 *
 * A file is replaced atomically. The private file of the vault is written first, and the public one is derived from it.
 * So after a crash between the two everything sealed can be opened, and the next call completes the pair.
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

/** Mode and owner of a key file. Without `owner` it belongs to the user of this process. */
export interface Access {
  /** Such as 0o600. */
  readonly mode: number
  readonly owner?: { readonly uid: number; readonly gid: number }
}

type RingFiles = KeyFiles | WebhookKeyFile

/** The right to change the key files of a ring, during `withKeyLock` (key-lock.ts). */
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
 * Creates the files, their folder and a first key, unless they exist. Never replaces a ring. Returns the files.
 * Throws `VaultError` `key_file` when only the public half exists: the private half was lost, or is in another folder.
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

/** Creates the key files of an installation; returns the id of the key. Throws `VaultError` `key_file` when one exists. */
export function initKeyFiles(files: RingFiles, access: Access): string {
  for (const file of [files.privateFile, files.publicFile]) {
    if (file === null || !existsSync(file)) continue
    throw new VaultError('key_file', `${file} exists already. Nothing was changed: name another folder.`)
  }
  return readKeyRing(ensureKeyFiles(files, access).privateFile, kindOf(files)).current
}

/** How a key is added. */
export interface Rotation {
  /** Adds a key only while this one is current, so that an interrupted rotation can be repeated. */
  readonly ifCurrent?: string | undefined
  /** Gets the id of the new key before it is in a file. When it rejects, nothing is written. */
  announce(keyId: string): Promise<void>
}

/**
 * Adds a key to the ring and makes it current; the old keys stay. Returns the id of the current key. Running processes
 * reload the file. Owner, group and mode of the files stay.
 *
 * Rejects with `VaultError` `key_file`, also when `ifCurrent` is not in the ring, or when owner and group can't be kept.
 */
export async function addKey({ files }: KeyLock, { ifCurrent, announce }: Rotation): Promise<string> {
  const change = whileCurrent(ifCurrent, ring => withNewKey(ring, kindOf(files), Date.now()))
  return (await changeRing(files, change, ({ current }) => announce(current))).current
}

/**
 * Adds a key to the vault's ring that opens and does not seal yet; a repeated rotation keeps the key that is there.
 * Returns the ring. Its `next` is absent when `ifCurrent` is no longer the current key. Rejects as `addKey`.
 */
export async function addNextKey({ files }: KeyLock, ifCurrent: string | undefined): Promise<KeyRing> {
  return await changeRing(
    files,
    whileCurrent(ifCurrent, ring => withNextKey(ring, Date.now()))
  )
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
 * Removes an old key from the files. What is still sealed with it is lost: `vault retire` looks at the stored cards
 * before. Rejects with `VaultError` `key_in_use` or `key_file`.
 */
export async function removeKey({ files }: KeyLock, keyId: string, nowMs: number): Promise<void> {
  await changeRing(files, ring => withoutKey(ring, keyId, nowMs))
}

/** The change, unless the current key is another one than `ifCurrent`. */
function whileCurrent(ifCurrent: string | undefined, change: (ring: KeyRing) => KeyRing): (ring: KeyRing) => KeyRing {
  return ring => {
    if (ifCurrent !== undefined) requireKey(ring, ifCurrent)
    return ifCurrent === undefined || ifCurrent === ring.current ? change(ring) : ring
  }
}

function kindOf({ publicFile }: RingFiles): 'private' | 'webhook' {
  return publicFile === null ? 'webhook' : 'private'
}

/**
 * Writes drafts, calls `announce`, then renames the drafts. Compares the file before that, because an editor does not
 * take the lock.
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

/** Keeps a file that exists by now: of two processes that create a ring at once, the second uses the ring of the first. */
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

/** A process that can read the old file must be able to read the new one. */
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

/** A new folder gets the owner of the files in it. */
function makeFolder(dir: string, access: Access): void {
  const isNew = mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined
  if (!isNew) return
  const descriptor = openSync(dir, 'r')
  try {
    // A user with the right to read gets the right to enter.
    giveAccess(descriptor, dir, { ...access, mode: access.mode | ((access.mode & 0o444) >> 2) })
  } finally {
    closeSync(descriptor)
  }
}

/** A new name survives a power loss only after an fsync of its folder; a lost key would lose every stored card. */
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
    `${privateFile} was changed by another program at the same time. Nothing was written: look at the file, and repeat this.`
  )
}

function lostPrivateHalf(publicFile: string, privateFile: string): VaultError {
  return new VaultError(
    'key_file',
    `${publicFile} exists without ${privateFile}. Restore the private file: without it, no card sealed so far can be opened. To start over, remove the public file.`
  )
}
