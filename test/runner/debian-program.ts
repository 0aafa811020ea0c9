/** Programs that only tests run: from the PATH, or unpacked from Debian's packages without installing anything. */
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import { findOnPath, isExecutable, libraryPathOf, obtainUnpacked, runToEnd } from '../../scripts/start/apt-packages.js'

/** A program, and the environment that it needs. */
export interface DebianProgram {
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  /** Where it was unpacked: it is started there when it has `data`. */
  readonly folder?: string
}

interface Source {
  /** The package. */
  readonly source: string
  readonly path: string
  readonly version: string
  /** A folder of the package that the program opens at this place of an installed system. */
  readonly data?: string
}

const PROGRAMS = {
  promtool: { source: 'prometheus', path: 'usr/bin/promtool', version: '--version' },
  prometheus: { source: 'prometheus', path: 'usr/bin/prometheus', version: '--version' },
  amtool: { source: 'prometheus-alertmanager', path: 'usr/bin/amtool', version: '--version' },
  'prometheus-alertmanager': {
    source: 'prometheus-alertmanager',
    path: 'usr/bin/prometheus-alertmanager',
    version: '--version',
    data: '/usr/share/prometheus/alertmanager'
  },
  haproxy: { source: 'haproxy', path: 'usr/sbin/haproxy', version: '-v' }
} as const satisfies Readonly<Record<string, Source>>

export type DebianProgramName = keyof typeof PROGRAMS

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
      return isExecutable(file)
        ? { file, env: { LD_LIBRARY_PATH: libraryPathOf(unpacked) }, folder: unpacked }
        : undefined
    },
    async unpacked => {
      // Programs of one package share its folder: the first that is fetched completes all.
      for (const other of Object.values<Source>(PROGRAMS)) {
        if (other.source === source && other.data !== undefined)
          await makeRelative(join(unpacked, other.path), other.data)
      }
      await runToEnd(join(unpacked, path), [version], { LD_LIBRARY_PATH: libraryPathOf(unpacked) })
    }
  ).catch((error: unknown) => {
    throw new Error(`There is no ${name} on the PATH, and fetching it did not work: ${messageOf(error)}.`)
  })
}

/** Lets a program open the folder `data` below the one in which it is started. The text of the path keeps its length. */
async function makeRelative(file: string, data: string): Promise<void> {
  const program = await readFile(file, 'latin1')
  await writeFile(file, program.replaceAll(data, `${data.slice(1)}/`), 'latin1')
}
