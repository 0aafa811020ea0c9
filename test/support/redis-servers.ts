/** Redis servers whose whole configuration a test gives. */
import { type ChildProcess, spawn } from 'node:child_process'
import { GUARD, serverEnvironment } from '../../scripts/start/embedded-server.js'
import { type ProcessGroup, startGroup } from '../../scripts/start/process-group.js'
import type { RedisBinary } from '../../scripts/start/redis-binary.js'

/** A server without a supervisor. It ends with this process, also after a crash. */
export function spawnRedis(binary: RedisBinary, args: readonly string[]): ChildProcess {
  return spawn('sh', ['-c', GUARD, 'sh', binary.file, ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: serverEnvironment(binary.libraryPath)
  })
}

/** The same in a process group of its own. Its configuration is in `args`. */
export function startRedisGroup(
  binary: RedisBinary,
  args: readonly string[],
  options: Pick<Parameters<typeof startGroup>[0], 'cwd' | 'user' | 'onOutput'>
): Promise<ProcessGroup> {
  return startGroup({
    script: GUARD,
    args: [binary.file, ...args],
    env: serverEnvironment(binary.libraryPath),
    ...options
  })
}
