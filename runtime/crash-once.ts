/**
 * `CRASH_POINTS=commit.before,network.capture.after`: each named point kills the process that reaches it first, once
 * for the whole installation. Test environment only (runtime/config.ts).
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { armCrashPoints, type CrashPoint } from './crash-points.js'

/** Where the marks of the points that were reached are left, below the data directory. */
export const CRASH_MARKS = 'crashes'

/** Arms the points. A mark is made right before the death; where there is one, the point is passed. */
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
