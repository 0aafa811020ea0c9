/**
 * A Redis that runs beside the service, durable or memory-only.
 *
 * The durable one writes every command to its append-only file before it answers, and never evicts. The memory-only
 * one writes nothing anywhere: no snapshot, no append-only file, no crash report (which would quote a command).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { delay } from '../../runtime/delay.js'
import { type Ending, type ProcessGroup, startGroup } from './process-group.js'
import type { RedisBinary } from './redis-binary.js'
import { SupervisedProcess } from './supervised-process.js'

export type RedisKind = 'redis' | 'secrets-redis'

const ARGUMENTS: Record<RedisKind, readonly string[]> = {
  redis: ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'],
  'secrets-redis': ['--appendonly', 'no', '--crash-log-enabled', 'no', '--crash-memcheck-enabled', 'no']
}

/**
 * A database server knows nothing of our pipe, so a shell stands in front of it: it passes TERM on, and ends the server when its
 * standard input closes because the supervisor is gone.
 */
export const GUARD = `
exec 3<&0
trap : TERM INT
"$@" </dev/null 3<&- & server=$!
( read -r _ <&3; kill -TERM "$server" ) & watcher=$!
exec 3<&-
wait "$server"; status=$?
while kill -0 "$server" 2>/dev/null; do wait "$server"; status=$?; done
kill "$watcher" 2>/dev/null
exit "$status"
`

/** A server by hand, without a supervisor; it ends with this process, also after a crash. */
export function spawnRedis(binary: RedisBinary, args: readonly string[]): ChildProcess {
  return spawn('sh', ['-c', GUARD, 'sh', binary.file, ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env['PATH'], LD_LIBRARY_PATH: binary.libraryPath }
  })
}

/** A server in a process group of its own, which ends with this process, too. Its configuration is in `args`. */
export function startRedisGroup(
  binary: RedisBinary,
  args: readonly string[],
  options: Pick<Parameters<typeof startGroup>[0], 'cwd' | 'user' | 'onOutput'>
): Promise<ProcessGroup> {
  const env = { PATH: process.env['PATH'], LD_LIBRARY_PATH: binary.libraryPath }
  return startGroup({ script: GUARD, args: [binary.file, ...args], env, ...options })
}

/** A big append-only file takes its time: about a minute for 10 GB. */
const LOADING_DEADLINE_MS = 180_000
/** What a killed start left behind ends by itself, within the time that any start takes to stop. */
const LEFTOVER_DEADLINE_MS = 15_000
const POLL_MS = 20

export interface EmbeddedRedis {
  readonly url: string
  readonly process: SupervisedProcess
}

/** Starts a server on a loopback port and waits until it answers. Rejects with its last words when it ends instead. */
export async function startRedis(options: {
  kind: RedisKind
  binary: RedisBinary
  port: number
  /** Folder of this server's files; created when missing. */
  dir: string
  databases?: number
  onOutput: (text: string) => void
  onEnd?: (ending: Ending, pauseMs: number) => void
}): Promise<EmbeddedRedis> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 })
  let lastWords = ''
  let hasEnded = false
  let isReady = false
  const server = new SupervisedProcess({
    name: options.kind,
    script: GUARD,
    args: [
      options.binary.file,
      ...['--port', String(options.port), '--bind', '127.0.0.1', '--dir', options.dir, '--save', ''],
      ...[
        '--databases',
        String(options.databases ?? 16),
        '--loglevel',
        'warning',
        '--set-proc-title',
        'no',
        ...ARGUMENTS[options.kind]
      ]
    ],
    cwd: options.dir,
    environment: async () => ({ PATH: process.env['PATH'], LD_LIBRARY_PATH: options.binary.libraryPath }),
    // What Redis says while it starts is of interest only when it does not start.
    onOutput: text => {
      lastWords = text
      if (isReady) options.onOutput(text)
    },
    onEnd: (ending, pauseMs) => {
      hasEnded = true
      options.onEnd?.(ending, pauseMs)
    }
  })
  await server.start()
  const deadline = Date.now() + LOADING_DEADLINE_MS
  while (!(await askRedis(options.port, 'PING'))?.startsWith('+PONG')) {
    if (hasEnded || Date.now() > deadline) {
      await server.stop(0)
      throw new Error(`The embedded ${options.kind} on port ${options.port} did not start: ${lastWords.trim()}`)
    }
    await delay(POLL_MS)
  }
  isReady = true
  return { url: `redis://127.0.0.1:${options.port}`, process: server }
}

/** Waits until no server of an earlier, killed start works in `dir` any more. Rejects when it stays. */
export async function waitUntilUnused(dir: string, port: number): Promise<void> {
  const deadline = Date.now() + LEFTOVER_DEADLINE_MS
  while ((await askRedis(port, 'CONFIG GET dir'))?.includes(`${dir}\r\n`)) {
    if (Date.now() > deadline) {
      throw new Error(`The Redis of an earlier start still uses ${dir} (port ${port}). Stop it, then start again.`)
    }
    await delay(POLL_MS)
  }
}

/** The first bytes of the answer to one inline command, or undefined without an answer. */
function askRedis(port: number, command: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const socket = createConnection({ host: '127.0.0.1', port })
    const finish = (answer: string | undefined): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, () => finish(undefined))
    socket.once('error', () => finish(undefined))
    socket.once('close', () => finish(undefined))
    socket.once('data', data => finish(data.toString()))
    socket.write(`${command}\r\n`)
  })
}

/** Where the files of each kind are, below the data directory. */
export function redisDir(dataDir: string, kind: RedisKind): string {
  return join(dataDir, kind)
}
