/** Engine and base images, made of Debian packages and kept in `.vendor/containers-drill`. */
import { existsSync } from 'node:fs'
import { cp, mkdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { findOnPath, libraryPathOf, obtainUnpacked } from '../../scripts/start/apt-packages.js'
import { run } from '../clients-drill/run.js'
import { obtainNode } from '../runner/node-binaries.js'

/** Folders of file systems, and a program with its libraries. */
export interface Parts {
  /** Debian 13 with Docker and Compose. */
  readonly engine: string
  /** Debian 12 with Node 24, npm, git, openssl and PostgreSQL 15: stands in for the images `node` and `postgres`. */
  readonly debian12: string
  /** Debian 13 with Redis 8: stands in for the image `redis`. */
  readonly debian13: string
  /** Gives the engine a way out, as a user's process. */
  readonly slirp: { readonly file: string; readonly env: Readonly<Record<string, string>> }
}

const ROOTS = {
  engine: {
    suite: 'trixie',
    packages: ['docker.io', 'docker-cli', 'docker-buildx', 'docker-compose', 'iptables', 'iproute2', 'ca-certificates']
  },
  debian12: { suite: 'bookworm', packages: ['ca-certificates', 'git', 'openssl', 'postgresql-15'] },
  debian13: { suite: 'trixie', packages: ['redis-server'] }
} as const

/** What a machine needs for the drill and this one has not. */
export function whatIsMissing(): string[] {
  const programs = ['apt-get', 'dpkg', 'git', 'ip', 'npm', 'unshare'].filter(name => findOnPath(name) === undefined)
  return [
    ...(process.platform === 'linux' ? [] : ['Linux']),
    ...(process.getuid?.() === 0 ? [] : ['root']),
    ...(existsSync('/dev/net/tun') ? [] : ['/dev/net/tun']),
    ...programs
  ]
}

/** Fetches and makes what is not there. */
export async function obtainParts(vendorDir: string, say: (line: string) => void): Promise<Parts> {
  const unpacked = async (name: string, file: string): Promise<string> =>
    await obtainUnpacked({ vendorDir, name, packages: [name], say }, folder =>
      existsSync(join(folder, file)) ? resolve(folder) : undefined
    )
  const debootstrap = await unpacked('debootstrap', 'usr/sbin/debootstrap')
  const slirp = await unpacked('slirp4netns', 'usr/bin/slirp4netns')
  const { folder: node } = await obtainNode('24', say)
  const folder = resolve(vendorDir, 'containers-drill')
  const rootOf = (name: keyof typeof ROOTS, complete: (root: string) => Promise<void>): Promise<string> =>
    obtainRoot({ name, folder, debootstrap, say }, complete)
  return {
    engine: await rootOf('engine', useLegacyTables),
    debian12: await rootOf('debian12', root => addNode(root, node)),
    debian13: await rootOf('debian13', async () => undefined),
    slirp: { file: join(slirp, 'usr/bin/slirp4netns'), env: { LD_LIBRARY_PATH: libraryPathOf(slirp) } }
  }
}

async function obtainRoot(
  options: { name: keyof typeof ROOTS; folder: string; debootstrap: string; say: (line: string) => void },
  complete: (root: string) => Promise<void>
): Promise<string> {
  const { name, folder, debootstrap, say } = options
  const root = join(folder, name)
  if (existsSync(root)) return root
  const { suite, packages } = ROOTS[name]
  say(`Making ${root} of Debian packages (${packages.join(', ')}) ...`)
  const work = `${root}.new`
  await rm(work, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const env = { DEBOOTSTRAP_DIR: join(debootstrap, 'usr/share/debootstrap') }
  const args = ['--variant=minbase', `--include=${packages.join(',')}`, suite, work]
  await run(join(debootstrap, 'usr/sbin/debootstrap'), args, { env })
  await complete(work)
  await rename(work, root)
  return root
}

/** The newer tables need a part of the kernel that not each machine has. */
async function useLegacyTables(root: string): Promise<void> {
  for (const name of ['iptables', 'ip6tables']) {
    await rm(join(root, 'usr/sbin', name), { force: true })
    await symlink(`${name}-legacy`, join(root, 'usr/sbin', name))
  }
}

async function addNode(root: string, folder: string): Promise<void> {
  const npm = dirname(dirname(process.env['npm_execpath'] ?? ''))
  if (!existsSync(join(npm, 'bin/npm-cli.js')))
    throw new Error('Start the drill as `npm run containers-drill`: it copies that npm.')
  await cp(join(folder, 'node'), join(root, 'usr/local/bin/node'))
  await cp(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
}
