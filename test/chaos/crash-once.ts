/**
 * Loaded before a process (`node --import`), with `?points=commit.before,network.capture.after&marks=FOLDER` behind the name of this
 * file: each named point kills the first process that reaches it, once per folder. Run, not imported from.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { armCrashPoints } from '../../runtime/crash-points.js'

const { searchParams } = new URL(import.meta.url)
const points = searchParams.get('points')?.split(',') ?? []
const folder = searchParams.get('marks') ?? ''
mkdirSync(folder, { recursive: true })
armCrashPoints(async point => {
  if (!points.includes(point) || !isFirst(join(folder, point))) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
})

/** Only one process can create the file. */
function isFirst(mark: string): boolean {
  try {
    closeSync(openSync(mark, 'wx'))
    return true
  } catch {
    return false
  }
}
