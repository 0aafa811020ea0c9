/**
 * The versions of Node that tests run on besides the one at hand: pinned in test/node-versions/, with their integrity,
 * and fetched into `.vendor/node-versions` by npm.
 */
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UsageError } from '../../scripts/command-line/usage-error.js'
import { runToEnd } from '../../scripts/start/apt-packages.js'

/** A version of Node for tests. */
export interface NodeBinary {
  /** Such as `22`. */
  readonly line: string
  /** Such as `22.12.0`. */
  readonly version: string
  /** The folder of the program `node`. */
  readonly folder: string
}

const PINNED = 'test/node-versions'
const VENDOR = '.vendor'
const HERE = `${process.platform}-${process.arch}`

/** The pinned versions for a system such as `linux-x64`, oldest first; none for systems that are not pinned. */
export async function pinnedNodes(system = HERE): Promise<readonly NodeBinary[]> {
  const { optionalDependencies: pinned } = JSON.parse(await readFile(join(PINNED, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  const form = new RegExp(`^node-(\\d+)-${system}$`)
  return Object.entries(pinned).flatMap(([name, version]) => {
    const line = form.exec(name)?.[1]
    const folder = resolve(VENDOR, 'node-versions/node_modules', name, 'bin')
    return line === undefined ? [] : [{ line, version: version.split('@').at(-1) ?? '', folder }]
  })
}

/** The pinned version of a line such as `22`, fetched. Throws `UsageError` with those that there are. */
export async function obtainNode(line: string, say: (text: string) => void): Promise<NodeBinary> {
  const nodes = await pinnedNodes()
  const found = nodes.find(node => node.line === line)
  if (found === undefined) {
    const lines = nodes.map(node => node.line).join(', ') || `none for ${HERE}`
    throw new UsageError(`Tests do not run on Node ${line}. ${PINNED} has ${lines}.`)
  }
  await fetchNodes(say)
  return found
}

/** Fetches all pinned versions unless they are there. Works in a folder of its own, so that nothing is left half done. */
export async function fetchNodes(say: (text: string) => void): Promise<void> {
  const [place, lock] = [join(VENDOR, 'node-versions'), await readFile(join(PINNED, 'package-lock.json'), 'utf8')]
  if (lock === (await readFile(join(place, 'package-lock.json'), 'utf8').catch(() => ''))) return
  say('Fetching the other versions of Node into .vendor (nothing is installed on the system) ...')
  await mkdir(VENDOR, { recursive: true })
  const work = await mkdtemp(join(VENDOR, 'fetch-'))
  try {
    await cp(PINNED, work, { recursive: true })
    await runToEnd('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {}, work)
    await rm(place, { recursive: true, force: true })
    await rename(work, place)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
