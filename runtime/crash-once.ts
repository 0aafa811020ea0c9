/**
 * `CRASH_POINTS=commit.before,network.capture.after`: each named point kills the first process that reaches it, once
 * per installation. Test environment only (runtime/config.ts).
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { armCrashPoints, type CrashPoint } from './crash-points.js'

/** Folder of the data directory with a file for each point that killed a process. */
export const CRASH_MARKS = 'crashes'

/** Arms the points. A point that has its file already kills no process. */
export function crashOnceAt(points: readonly CrashPoint[], dataDir: string): void {
  const folder = join(dataDir, CRASH_MARKS)
  mkdirSync(folder, { recursive: true })
  armCrashPoints(async point => {
    if (!points.includes(point) || !isFirst(join(folder, point))) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  })
}

/** Only one process can create the file. */
function isFirst(mark: string): boolean {
  try {
    closeSync(openSync(mark, 'wx'))
    return true
  } catch {
    return false
  }
}
