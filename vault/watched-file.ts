/** A value made from a file, made anew when the file was replaced: key files change by rotation while processes run. */
import { statSync } from 'node:fs'

const CHECK_INTERVAL_MS = 1_000

/**
 * Reads once at once, and throws what `read` throws. Later calls look at the file at most once a second, or at once when
 * `isUrgent`; a file that cannot be read then leaves the value as it was: a running process must not stop for it.
 */
export function watchFile<T>(file: string, read: (file: string) => T): (isUrgent?: boolean) => T {
  let stamp = stampOf(file)
  let value = read(file)
  let checkedAtMs = Date.now()
  return (isUrgent = false) => {
    if (!isUrgent && Date.now() - checkedAtMs < CHECK_INTERVAL_MS) return value
    checkedAtMs = Date.now()
    try {
      const now = stampOf(file)
      if (now !== stamp) {
        value = read(file)
        stamp = now
      }
    } catch {
      // Tried again at the next check; the keys that are known still work.
    }
    return value
  }
}

/** Changes whenever the file is replaced or written; the number of the file too, since clocks may be coarse. */
function stampOf(file: string): string {
  const { mtimeMs, ino, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, ino: 0, size: 0 }
  return `${mtimeMs}.${ino}.${size}`
}
