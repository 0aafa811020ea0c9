/**
 * Finds a Redis server program, and fetches one without installing anything when the machine has none.
 *
 * Order: `redis-server` or `valkey-server` on the PATH, the copy of an earlier start in `.vendor/redis`, the system's
 * package manager. Where packages can't be fetched without installing them, the error names the command to run.
 */
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import { findOnPath, isExecutable, libraryPathOf, obtainUnpacked, runToEnd } from './apt-packages.js'

/** A program with the behaviour of `redis-server`, and the folder of libraries that the system lacks. */
export interface RedisBinary {
  readonly file: string
  readonly libraryPath: string | undefined
}

const SERVER_NAMES = ['redis-server', 'valkey-server']
const INSTALL_COMMANDS: readonly (readonly [program: string, command: string])[] = [
  ['apt-get', 'apt-get install redis-server'],
  ['brew', 'brew install redis'],
  ['apk', 'apk add redis'],
  ['dnf', 'dnf install valkey'],
  ['pacman', 'pacman -S valkey']
]

/** `vendorDir` keeps what was fetched; `say` gets a sentence before anything slow. */
export async function obtainRedis(vendorDir: string, say: (line: string) => void): Promise<RedisBinary> {
  const installed = SERVER_NAMES.map(findOnPath).find(file => file !== undefined)
  if (installed !== undefined) return { file: installed, libraryPath: undefined }

  const options = { vendorDir, name: 'redis', packages: ['redis-tools'], say }
  return await obtainUnpacked(options, usableServer, nameServer).catch((error: unknown) => {
    const install = INSTALL_COMMANDS.find(([program]) => findOnPath(program) !== undefined)?.[1]
    throw new Error(
      `There is no redis-server or valkey-server on the PATH, and fetching one did not work: ${messageOf(error)}.\n` +
        `Install one${install === undefined ? '' : ` (${install})`}, or set REDIS_URL and SECRETS_REDIS_URL to running servers.`
    )
  })
}

async function usableServer(unpacked: string): Promise<RedisBinary | undefined> {
  const file = join(unpacked, 'redis-server')
  if (!isExecutable(file)) return undefined
  const binary = { file, libraryPath: libraryPathOf(unpacked) }
  const answer = await runToEnd(file, ['--version'], { LD_LIBRARY_PATH: binary.libraryPath }).catch(() => undefined)
  return answer === undefined ? undefined : binary
}

/** Debian ships one program under several names; its package redis-server is only a link to it. */
async function nameServer(unpacked: string): Promise<void> {
  const programs = ['redis-server', 'redis-check-rdb', 'valkey-server', 'valkey-check-rdb']
  const program = programs.find(name => isExecutable(join(unpacked, 'usr/bin', name)))
  if (program === undefined) throw new Error('the packages of the system contain no Redis server')
  await symlink(join('usr/bin', program), join(unpacked, 'redis-server'))
}
