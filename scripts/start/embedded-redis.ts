/**
 * A Redis that runs beside the service, durable or memory-only.
 *
 * The durable one writes every command to its append-only file before it answers, and never evicts. The memory-only one
 * writes no snapshot, no append-only file and no crash report, which would quote a command.
 */
import { mkdir } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { delay } from '../../runtime/delay.js'
import { type EmbeddedServer, GUARD, startServer } from './embedded-server.js'
import type { Ending } from './process-group.js'
import type { RedisBinary } from './redis-binary.js'

export type RedisKind = 'redis' | 'secrets-redis'

const ARGUMENTS: Record<RedisKind, readonly string[]> = {
  redis: ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'],
  'secrets-redis': ['--appendonly', 'no', '--crash-log-enabled', 'no', '--crash-memcheck-enabled', 'no']
}

/** Loading an append-only file of 10 GB takes about a minute. */
const START_WITHIN_MS = 180_000
/** A server that a killed start left behind stops within the time that any start takes to stop. */
const LEFTOVER_DEADLINE_MS = 15_000
const POLL_MS = 20

/** Starts a server on a loopback port and waits until it answers. Rejects with its last output when it ends instead. */
export async function startRedis(options: {
  kind: RedisKind
  binary: RedisBinary
  port: number
  /** Folder of this server's files; created when missing. */
  dir: string
  databases?: number
  onOutput: (text: string) => void
  onEnd?: (ending: Ending, pauseMs: number) => void
}): Promise<EmbeddedServer> {
  const { kind, binary, port, dir, databases = 16 } = options
  await mkdir(dir, { recursive: true, mode: 0o700 })
  return await startServer({
    title: `${kind} on port ${port}`,
    name: kind,
    url: `redis://127.0.0.1:${port}`,
    script: GUARD,
    args: [
      binary.file,
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''],
      ...['--databases', String(databases), '--loglevel', 'warning', '--set-proc-title', 'no'],
      ...ARGUMENTS[kind]
    ],
    cwd: dir,
    libraryPath: binary.libraryPath,
    startWithinMs: START_WITHIN_MS,
    doesAnswer: async () => (await askRedis(port, 'PING'))?.startsWith('+PONG') ?? false,
    onOutput: options.onOutput,
    onEnd: options.onEnd
  })
}

/** Waits until the server of an earlier, killed start no longer uses `dir`. Rejects when it does not stop. */
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
