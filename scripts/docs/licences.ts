/** Which packages are in the product, and under which licences, from the lock file: the same on every platform. */
import { readFileSync } from 'node:fs'

export interface LockedPackage {
  readonly name: string
  readonly version: string
  readonly licence: string
  /** Only for developing: no part of what serves merchants. */
  readonly isDevelopment: boolean
}

interface LockFile {
  readonly packages: Readonly<Record<string, { version?: string; license?: string; dev?: boolean }>>
}

/** Every package of package-lock.json by name, without our own, which have no version of their own there. */
export function lockedPackages(): readonly LockedPackage[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile
  return Object.entries(packages)
    .flatMap(([path, { version, license, dev }]) => {
      if (path === '' || version === undefined) return []
      const name = path.replace(/^.*node_modules\//, '')
      return [{ name, version, licence: license ?? 'unknown', isDevelopment: dev ?? false }]
    })
    .sort((one, other) => `${one.name}@${one.version}`.localeCompare(`${other.name}@${other.version}`, 'en'))
}
