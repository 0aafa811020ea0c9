/** The version of a release, as in logs, /healthz, metrics and `operator --version`. */
import { messageOf } from '../../runtime/message-of.js'
import { runToEnd } from '../start/apt-packages.js'

/** What a release takes from package.json. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

/** Rejects where the checkout has no history: an unknown version must not be deployed. */
export async function releaseVersion(root: string, { version }: Pick<Manifest, 'version'>): Promise<string> {
  const args = ['describe', '--tags', '--always', '--abbrev=12', '--dirty', '--match=v[0-9]*']
  const described = await runToEnd('git', args, {}, root).catch((error: unknown) => {
    throw new Error(`The version of ${root} is not known, because git has no commit of it: ${messageOf(error)}`)
  })
  return versionOf(described.trim(), version)
}

/**
 * From what `git describe` prints: `v1.2.0` is 1.2.0, and `8a7b…`, a commit without any tag before it, is
 * `<version of package.json>-g8a7b…`. Changes that are not committed add `-dirty`.
 */
export function versionOf(described: string, packageVersion: string): string {
  return /^v\d/.test(described) ? described.slice(1) : `${packageVersion}-g${described}`
}
