/** Namespaces of their own for engine and drill: when they end, so do all processes, networks and mounts in them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { delay } from '../../runtime/delay.js'
import { CONTROL_GROUP } from './engine.js'
import type { Parts } from './parts.js'

const STARTED_WITHIN_MS = 10_000
/** After SIGKILL. */
const ENDED_WITHIN_MS = 1_000

/** Runs inside.js in them. Resolves to its exit code. */
export async function runInMachine(options: {
  parts: Parts
  folder: string
  logFile: string | undefined
}): Promise<number> {
  const { parts, folder, logFile } = options
  const inside = join(import.meta.dirname, 'inside.js')
  const job = JSON.stringify({ parts, folder, logFile })
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation=private']
  // Its input closes when this process is killed: it ends then, and with it everything.
  const machine = spawn('unshare', [...namespaces, process.execPath, inside, job], {
    stdio: ['pipe', 'inherit', 'inherit']
  })
  // Before the handler that removes the folder.
  let slirp: ChildProcess | undefined
  const end = (): void => {
    slirp?.kill()
    endNow(machine)
  }
  process.prependOnceListener('exit', end)
  const ended = new Promise<number>(done => {
    machine.once('close', code => done(code ?? 1))
  })
  slirp = spawn(
    parts.slirp.file,
    ['--configure', '--mtu=1500', '--disable-host-loopback', String(await insideOf(machine)), 'tap0'],
    {
      env: { ...process.env, ...parts.slirp.env },
      stdio: 'ignore'
    }
  )
  slirp.once('error', error => process.stderr.write(`${error.message}\n`))
  const code = await ended
  slirp.kill()
  process.off('exit', end)
  removeGroups()
  return code
}

function endNow(machine: ChildProcess): void {
  machine.kill('SIGKILL')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ENDED_WITHIN_MS)
  removeGroups()
}

/** Control groups are the one thing that outlives the namespaces. */
function removeGroups(): void {
  spawnSync('find', [
    '/sys/fs/cgroup',
    '-depth',
    '-type',
    'd',
    '-path',
    `*/${CONTROL_GROUP}*`,
    '-exec',
    'rmdir',
    '{}',
    ';'
  ])
}

/** The process that `unshare` has started, as this namespace numbers it. */
async function insideOf({ pid }: ChildProcess): Promise<number> {
  for (const untilMs = Date.now() + STARTED_WITHIN_MS; Date.now() < untilMs; await delay(20)) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    if (children !== '') return Number(children.trim())
  }
  throw new Error('unshare started nothing.')
}
