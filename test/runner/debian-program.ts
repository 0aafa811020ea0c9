/** Programs that only tests run: from the PATH, or unpacked from Debian's packages without installing anything. */
import { join, resolve } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import { findOnPath, isExecutable, libraryPathOf, obtainUnpacked, runToEnd } from '../../scripts/start/apt-packages.js'

/** A program, and the environment that it needs. */
export interface DebianProgram {
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

interface Source {
  /** The package. */
  readonly source: string
  readonly path: string
  readonly version: string
}

const PROGRAMS = {
  promtool: { source: 'prometheus', path: 'usr/bin/promtool', version: '--version' },
  amtool: { source: 'prometheus-alertmanager', path: 'usr/bin/amtool', version: '--version' },
  haproxy: { source: 'haproxy', path: 'usr/sbin/haproxy', version: '-v' }
} as const satisfies Readonly<Record<string, Source>>

type DebianProgramName = keyof typeof PROGRAMS

/** Order: the PATH, the copy that an earlier run left in `vendorDir`, the system's package manager. */
export async function obtainProgram(
  name: DebianProgramName,
  vendorDir: string,
  say: (line: string) => void
): Promise<DebianProgram> {
  const installed = findOnPath(name)
  if (installed !== undefined) return { file: installed, env: {} }
  const { source, path, version }: Source = PROGRAMS[name]
  const options = { vendorDir: resolve(vendorDir), name: source, packages: [source], say }
  return await obtainUnpacked(
    options,
    unpacked => {
      const file = join(unpacked, path)
      return isExecutable(file) ? { file, env: { LD_LIBRARY_PATH: libraryPathOf(unpacked) } } : undefined
    },
    async unpacked => {
      await runToEnd(join(unpacked, path), [version], { LD_LIBRARY_PATH: libraryPathOf(unpacked) })
    }
  ).catch((error: unknown) => {
    throw new Error(`There is no ${name} on the PATH, and fetching it did not work: ${messageOf(error)}.`)
  })
}
