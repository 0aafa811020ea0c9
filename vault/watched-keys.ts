/** The keys of a file, read again when the file has changed: keys rotate while processes run. */
import { statSync } from 'node:fs'
import { type KeyRing, type RingKind, readKeyRing } from './key-ring.js'
import { VaultError } from './vault-error.js'

/** Which keys a process works with. */
export interface KeyHolder {
  keyIds(): { readonly current: string; readonly all: readonly string[] }
  /** Why the key file can't be used now, or undefined. The keys that were read before stay in use. */
  keyProblem(): string | undefined
}

export interface WatchedKeys<T> extends KeyHolder {
  /** Checks the file at most once a second, or at once when `isUrgent`. */
  value(isUrgent?: boolean): T
}

const CHECK_INTERVAL_MS = 1_000

/**
 * Reads the file at once, and throws as `readKeyRing` does. Later a file that is unreadable or has lost the current key
 * changes `keyProblem` only: a running process must not stop for it.
 */
export function watchKeys<T>(file: string, kind: RingKind, load: (ring: KeyRing) => T): WatchedKeys<T> {
  let stamp = stampOf(file)
  let ring = readKeyRing(file, kind)
  let value = load(ring)
  let problem: string | undefined
  let checkedAtMs = Date.now()

  const look = (isUrgent: boolean): void => {
    if (!isUrgent && Date.now() - checkedAtMs < CHECK_INTERVAL_MS) return
    checkedAtMs = Date.now()
    try {
      const now = stampOf(file)
      if (now !== stamp) {
        const found = readKeyRing(file, kind)
        if (!Object.hasOwn(found.keys, ring.current)) throw lostKey(file, ring.current)
        value = load(found)
        ring = found
        stamp = now
      }
      problem = undefined
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
    }
  }

  return {
    value: (isUrgent = false) => {
      look(isUrgent)
      return value
    },
    keyIds: () => {
      look(false)
      return { current: ring.current, all: Object.keys(ring.keys) }
    },
    keyProblem: () => {
      look(true)
      return problem
    }
  }
}

/**
 * Changes whenever the file is replaced, written, or given other rights. The inode number is a part of it, since clocks
 * may be coarse.
 */
function stampOf(file: string): string {
  const { ctimeMs, ino, size } = statSync(file, { throwIfNoEntry: false }) ?? { ctimeMs: 0, ino: 0, size: 0 }
  return `${ctimeMs}.${ino}.${size}`
}

/** A rotation keeps the current key, and `retire` removes old keys only. */
function lostKey(file: string, keyId: string): VaultError {
  return new VaultError(
    'key_file',
    `${file} no longer has the key ${keyId}, which this process uses: it is an old copy, or belongs to another installation. Restore the file; restart the process if it is right.`
  )
}
