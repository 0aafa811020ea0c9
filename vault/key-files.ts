/**
 * Creation and rotation of the key files of one installation: `vault-public-keys.json` for the processes that seal,
 * `vault-private-keys.json` for `payments`. Both get mode 0600.
 *
 * The private file is the truth and is always written first, whole or not at all; the public one is derived from it.
 * So a crash between the two leaves nothing sealed that cannot be opened, and the next call completes the pair.
 */
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { VaultError } from './errors.js'
import type { KeyLock } from './key-lock.js'
import { isNamed, type KeyRing, publicHalf, readKeyRing, withNewKey, withoutKey } from './key-ring.js'

/** Where the two halves of the key ring are. */
export interface KeyFiles {
  readonly publicFile: string
  readonly privateFile: string
}

/**
 * Makes sure that `dir` (created if missing, mode 0700) has a key ring, and says where. An existing ring is never replaced.
 * Throws `VaultError` `key_file` when only the public half is there: its private half was lost, or lies elsewhere.
 */
export function generateKeyFiles(dir: string): KeyFiles {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const files = keyFilesIn(dir)
  if (!existsSync(files.privateFile)) {
    if (existsSync(files.publicFile)) throw lostPrivateHalf(files)
    createWhole(files.privateFile, withNewKey(undefined, Date.now()))
  }
  if (!existsSync(files.publicFile))
    replaceWhole(files.publicFile, publicHalf(readKeyRing(files.privateFile, 'private')))
  return files
}

/**
 * Rotation: adds a key pair to the ring and makes it the current one; old boxes can still be opened. With `name`, a ring
 * whose current key has that name stays as it is, so that a rotation which was cut off can be repeated.
 *
 * Running processes follow by themselves. With copies of the files on several machines, those of `payments` come first, so
 * that nobody seals with a key that cannot be opened yet. Throws `VaultError` `key_file`.
 */
export function addKey({ files }: KeyLock, name?: string, now = Date.now): { readonly keyId: string } {
  const isDone = (ring: KeyRing): boolean => name !== undefined && isNamed(ring.current, name)
  return { keyId: changeRing(files, ring => (isDone(ring) ? ring : withNewKey(ring, now(), name))).current }
}

/**
 * Takes an old key out of both files. What is still sealed with it is lost, so make sure that nothing is: by
 * `vault retire`, which looks at the stored cards. Throws `VaultError` `key_in_use` or `key_file`.
 */
export function removeKey({ files }: KeyLock, keyId: string, nowMs: number): void {
  changeRing(files, ring => withoutKey(ring, keyId, nowMs))
}

/** The names of the pair in a folder. */
export function keyFilesIn(dir: string): KeyFiles {
  return { publicFile: join(dir, 'vault-public-keys.json'), privateFile: join(dir, 'vault-private-keys.json') }
}

/** Fails if `file` exists by now: of two that create a ring at the same time, one wins and the other uses its ring. */
function createWhole(file: string, ring: KeyRing): void {
  const draft = writeDraft(file, ring)
  try {
    linkSync(draft, file)
    syncFolder(file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}

/** Looks once more before it replaces: whoever does not know the lock (an editor, an older version) is not overwritten. */
function changeRing({ privateFile, publicFile }: KeyFiles, change: (ring: KeyRing) => KeyRing): KeyRing {
  const before = readKeyRing(privateFile, 'private')
  const after = change(before)
  if (after !== before) {
    const draft = writeDraft(privateFile, after)
    try {
      if (JSON.stringify(readKeyRing(privateFile, 'private')) !== JSON.stringify(before)) throw changedBy(privateFile)
      renameSync(draft, privateFile)
    } finally {
      rmSync(draft, { force: true })
    }
    syncFolder(privateFile)
  }
  replaceWhole(publicFile, publicHalf(after))
  return after
}

function replaceWhole(file: string, ring: KeyRing): void {
  renameSync(writeDraft(file, ring), file)
  syncFolder(file)
}

function writeDraft(file: string, ring: KeyRing): string {
  const draft = `${file}.${process.pid}.new`
  rmSync(draft, { force: true })
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeSync(descriptor, `${JSON.stringify(ring, null, 2)}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  return draft
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
    `${privateFile} was changed by somebody else in this moment. Nothing was written: look at the file, and repeat this.`
  )
}

function lostPrivateHalf(files: KeyFiles): VaultError {
  return new VaultError(
    'key_file',
    `${files.publicFile} exists without ${files.privateFile}. Restore the private file: without it, no card sealed so far can be opened. To begin anew, remove the public file.`
  )
}
