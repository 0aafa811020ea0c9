/**
 * A lock file: one process at a time changes the key files. Of two rotations at once, the later write would lose the
 * private key of the earlier one, and with it the cards that were sealed with that key.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import type { KeyFiles, KeyLock, WebhookKeyFile } from './key-files.js'
import { VaultError } from './vault-error.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Does `work` under the lock. A killed process leaves its lock behind: only an operator can tell it from a suspended
 * one. Rejects with `VaultError` `locked`, and as `work` does.
 */
export async function withKeyLock<T>(
  files: KeyFiles | WebhookKeyFile,
  work: (lock: KeyLock) => Promise<T>
): Promise<T> {
  const lockFile = `${files.privateFile}.lock`
  take(lockFile, files.privateFile)
  const release = (): void => rmSync(lockFile, { force: true })
  // A rotation that Ctrl-C interrupted can be repeated, so the lock is removed.
  const onSignal = (signal: NodeJS.Signals): void => {
    release()
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.once(signal, onSignal)
  try {
    return await work({ files })
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
    release()
  }
}

function take(lockFile: string, privateFile: string): void {
  let descriptor: number
  try {
    descriptor = openSync(lockFile, 'wx', 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST') throw lockedBy(lockFile, privateFile)
    throw new VaultError(
      'key_file',
      `${lockFile} cannot be written (${String(error.code)}). Run this on the machine and as the user that may change ${privateFile}. Nothing was changed.`
    )
  }
  try {
    writeSync(descriptor, `process ${process.pid} of ${hostname()} since ${new Date().toISOString()}\n`)
  } finally {
    closeSync(descriptor)
  }
}

function lockedBy(lockFile: string, privateFile: string): VaultError {
  let holder = ''
  try {
    holder = readFileSync(lockFile, 'utf8').trim()
  } catch {
    // Removed, or unreadable: the sentence names no holder.
  }
  return new VaultError(
    'locked',
    `${privateFile} is being changed by ${holder || 'another process'}. Wait until it ends. If that process is dead, remove ${lockFile} and repeat this. Nothing was changed.`
  )
}
