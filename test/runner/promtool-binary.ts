/** Finds promtool, which checks the rules of Prometheus, and fetches it without installing anything when the machine has none. */
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  canFetchPackages,
  fetchPackages,
  findOnPath,
  isExecutable,
  runToEnd
} from '../../scripts/start/apt-packages.js'

const PROGRAM = 'usr/bin/promtool'

/** Order: the PATH, the copy that an earlier run left in `vendorDir`, the system's package manager. Resolves to its path. */
export async function obtainPromtool(vendorDir: string, say: (line: string) => void): Promise<string> {
  const installed = findOnPath('promtool')
  if (installed !== undefined) return installed
  const file = join(resolve(vendorDir), 'prometheus', PROGRAM)
  if (isExecutable(file)) return file
  if (!canFetchPackages()) {
    throw new Error('There is no promtool on the PATH. Install Prometheus to check the rules of ops/alerts.yml.')
  }
  say('Fetching promtool into .vendor (nothing is installed on the system) ...')
  await fetchPackages({ vendorDir, name: 'prometheus', packages: ['prometheus'] }, async unpacked => {
    await runToEnd(join(unpacked, PROGRAM), ['--version'])
    // The server comes in the same package, and nothing here runs it.
    await rm(join(unpacked, 'usr/bin/prometheus'))
  })
  return file
}
