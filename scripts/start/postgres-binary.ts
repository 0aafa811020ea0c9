/**
 * Finds the programs of a PostgreSQL server, and fetches them without installing anything when the machine has none.
 *
 * Order: the PATH, where Debian installs them, the copy of an earlier start in `.vendor/postgres`, the system's package
 * manager.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import { findOnPath, isExecutable, libraryPathOf, obtainUnpacked } from './apt-packages.js'

/** The programs of one version, and the folder of libraries that the system lacks. */
export interface PostgresBinary {
  /** The folder of `postgres` and `initdb`. */
  readonly folder: string
  readonly libraryPath: string | undefined
}

/** `vendorDir` keeps what was fetched; `say` gets a sentence before anything slow. */
export async function obtainPostgres(vendorDir: string, say: (line: string) => void): Promise<PostgresBinary> {
  const onPath = findOnPath('postgres')
  const folder = onPath === undefined ? newestBelow('/') : dirname(onPath)
  if (folder !== undefined) return { folder, libraryPath: undefined }

  const place = isOpenToAll(vendorDir) || process.getuid?.() !== 0 ? vendorDir : ROOTS_PLACE
  const options = { vendorDir: place, name: 'postgres', packages: ['postgresql'], say }
  return await obtainUnpacked(options, unpackedServer).catch((error: unknown) => {
    throw new Error(
      `There is no postgres on the PATH or in /usr/lib/postgresql, and fetching one did not work: ${messageOf(error)}.\n` +
        'Install PostgreSQL 14 or newer (apt-get install postgresql), or set ARCHIVE_URL to a running server.'
    )
  })
}

/** Under root PostgreSQL runs as another user, who needs access to its programs: a checkout may be closed to others. */
const ROOTS_PLACE = '/var/cache/card-payments'

/** Whether all users may pass the folder, as far as it exists, and those above it. */
function isOpenToAll(folder: string): boolean {
  const isPassed = !existsSync(folder) || (statSync(folder).mode & 0o001) !== 0
  return isPassed && (folder === dirname(folder) || isOpenToAll(dirname(folder)))
}

function unpackedServer(unpacked: string): PostgresBinary | undefined {
  const folder = newestBelow(unpacked)
  return folder === undefined ? undefined : { folder, libraryPath: libraryPathOf(unpacked) }
}

/** Debian has a folder for each version. */
function newestBelow(root: string): string | undefined {
  const versions = join(root, 'usr/lib/postgresql')
  if (!existsSync(versions)) return undefined
  const folders = readdirSync(versions)
    .sort((one, other) => Number(other) - Number(one))
    .map(version => join(versions, version, 'bin'))
  return folders.find(folder => isExecutable(join(folder, 'postgres')) && isExecutable(join(folder, 'initdb')))
}
