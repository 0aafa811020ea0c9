/**
 * One at a time changes the key files. Two rotations at once would each add a key to the ring that both have read, and
 * the one that writes last would take the other one's private key away from the cards that are sealed with it.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import type { KeyFiles, KeyLock, WebhookKeyFile } from './key-files.js'
import { VaultError } from './vault-error.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Does `work` while no other process may change the files. A process that is killed leaves its lock behind: only an operator can
 * tell that from one that is suspended. Rejects with `VaultError` `locked`, and as `work` does.
 */
export async function withKeyLock<T>(
  files: KeyFiles | WebhookKeyFile,
  work: (lock: KeyLock) => Promise<T>
): Promise<T> {
  const lockFile = `${files.privateFile}.lock`
  take(lockFile, files.privateFile)
  const release = (): void => rmSync(lockFile, { force: true })
  // Ctrl-C cuts a rotation off, which may be repeated: then without a lock in the way.
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
    // Gone, or not to be read: the sentence does without it.
  }
  return new VaultError(
    'locked',
    `${privateFile} is being changed by ${holder || 'another process'}. Wait for its end. If there is no such process any more, it was killed: remove ${lockFile} and repeat this. Nothing was changed.`
  )
}
