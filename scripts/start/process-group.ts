/**
 * One command as a process group: signals reach all processes that it starts, and they end with it.
 *
 * The group has its own session, so that Ctrl-C in a terminal reaches the supervisor only, which then stops everything in
 * order. Its standard input is a pipe that the supervisor holds open and never writes to. The pipe closes when the
 * supervisor dies, also of SIGKILL, and then the children stop.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { delay } from '../../runtime/delay.js'

/** How the leader of a group ended. Exactly one of the two is not null. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const POLL_MS = 20
/** Until the kernel removes killed processes. Only a container without an init process needs it. */
const AFTER_KILL_MS = 1_000

/** The user and group of a process; they need no entry in /etc/passwd. Only root may set them. */
export interface UnixUser {
  readonly uid: number
  readonly gid: number
}

export interface ProcessGroup {
  readonly pid: number
  /** Resolves when the leader has ended and its output is read. */
  readonly ended: Promise<Ending>
  /** Signals every process of the group; false when none is left. */
  signal(signal: NodeJS.Signals): boolean
  /** TERM, then KILL for the processes that are left after `graceMs`. Resolves when none is left. */
  stop(graceMs: number): Promise<void>
}

/**
 * Starts `script` with `/bin/sh`. Core dumps are off: the memory of some processes holds card data.
 * Rejects when no process can be created at all; a script that fails is an `Ending`.
 */
export async function startGroup(options: {
  script: string
  args?: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
  user?: UnixUser | undefined
  onOutput: (text: string) => void
}): Promise<ProcessGroup> {
  const child = spawn('/bin/sh', ['-c', `ulimit -c 0\n${options.script}`, 'sh', ...(options.args ?? [])], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    ...options.user,
    stdio: ['pipe', 'pipe', 'pipe']
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.stdin.on('error', () => undefined)
  child.stdout.setEncoding('utf8').on('data', options.onOutput)
  child.stderr.setEncoding('utf8').on('data', options.onOutput)
  return groupOf(child, child.pid ?? Number.NaN)
}

function groupOf(child: ChildProcess, pid: number): ProcessGroup {
  let isGone = false
  let isStopping = false
  const signal = (name: NodeJS.Signals | 0): boolean => {
    if (isGone) return false
    try {
      return process.kill(-pid, name)
    } catch {
      return false
    }
  }
  const waitUntilGone = async (deadlineMs: number): Promise<void> => {
    const end = Date.now() + deadlineMs
    while (signal(0) && Date.now() < end) await delay(POLL_MS)
  }
  const ended = new Promise<Ending>(resolve => {
    child.once('exit', (code, name) => {
      // Processes that a dead leader left behind would hold the ports and locks of its successor.
      if (!isStopping) signal('SIGKILL')
      child.once('close', () => resolve({ code, signal: name }))
    })
  })
  return {
    pid,
    ended,
    signal,
    stop: async graceMs => {
      isStopping = true
      signal('SIGTERM')
      await waitUntilGone(graceMs)
      signal('SIGKILL')
      await waitUntilGone(AFTER_KILL_MS)
      isGone = true
      child.stdin?.destroy()
    }
  }
}
