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
import { type KeyRing, publicHalf, readKeyRing, withNewKey } from './key-ring.js'

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
    createWhole(files.privateFile, withNewKey(undefined))
  }
  if (!existsSync(files.publicFile))
    replaceWhole(files.publicFile, publicHalf(readKeyRing(files.privateFile, 'private')))
  return files
}

/**
 * Rotation: adds a key pair to the ring and makes it the current one; old boxes can still be opened. With `keyId`, a ring
 * that has that key already stays as it is, so that a rotation which was cut off can be repeated.
 *
 * Running processes follow by themselves. With copies of the files on several machines, those of `payments` come first, so
 * that nobody seals with a key that cannot be opened yet. Throws `VaultError` `key_file`.
 */
export function addKey(files: KeyFiles, keyId?: string): { readonly keyId: string } {
  const before = readKeyRing(files.privateFile, 'private')
  const isDone = keyId !== undefined && before.current === keyId
  const ring = isDone ? before : withNewKey(before, keyId)
  if (!isDone) replaceWhole(files.privateFile, ring)
  replaceWhole(files.publicFile, publicHalf(ring))
  return { keyId: ring.current }
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

function lostPrivateHalf(files: KeyFiles): VaultError {
  return new VaultError(
    'key_file',
    `${files.publicFile} exists without ${files.privateFile}. Restore the private file: without it, no card sealed so far can be opened. To begin anew, remove the public file.`
  )
}
