/** The release before this one, and the step that runs both of them on the same data. */
import { basename, join } from 'node:path'
import { delay } from '../../runtime/delay.js'
import { runToEnd } from '../../scripts/start/apt-packages.js'
import { restarted } from '../support/processes.js'
import type { Installation } from './installed-service.js'
import { unpack, versionsOf } from './release.js'
import type { Step } from './step.js'

/** How long both versions work side by side. */
const SIDE_BY_SIDE_MS = 3_000

/**
 * The commit below that of the checkout which set the version: that of the newest release. Not its tag, which a clone of CI may
 * lack. Undefined: nothing was released before, as far as the clone goes back.
 */
export async function newestRelease(checkout: string): Promise<string | undefined> {
  const setVersion = ['log', '-1', '--format=%H', '-G^  "version": ', 'HEAD^', '--', 'package.json']
  return await runToEnd('git', setVersion, {}, checkout).then(
    commit => commit.trim() || undefined,
    () => undefined
  )
}

/** Makes the release of another commit, in a clone of its own and by its own command. Resolves to its unpacked folder. */
export async function unpackBefore(checkout: string, commit: string, dir: string): Promise<string> {
  const clone = join(dir, 'checkout-before')
  await runToEnd('git', ['clone', '--quiet', checkout, clone])
  await runToEnd('git', ['checkout', '--quiet', '--detach', commit], {}, clone)
  const packing = ['run', '--silent', 'package', '--', '--out', join(dir, 'release-before')]
  const said = await runToEnd('npm', packing, {}, clone)
  const [, tarball] = /^(\S+\.tar\.gz)$/m.exec(said) ?? []
  if (tarball === undefined) throw new Error(`${commit} made no release: ${said}`)
  return await unpack(tarball, join(dir, 'opt-before'))
}

export const releaseBefore: Step = {
  name: 'release-before',
  does: 'a rolling restart back to the release before, and forth again, under load',
  expects: 'both work side by side on the same data, and payments go on',
  async run({ installation, beforeFolder }) {
    if (beforeFolder === undefined) return { skipped: 'nothing was released before; --before names a commit' }
    const own = installation.release()
    const seen: string[] = []
    let isOk = true
    for (const folder of [beforeFolder, own]) {
      await installation.linkRelease(folder)
      await restartAll(installation)
      const versions = await versionsOf(installation)
      const wrong = [...versions].filter(([, version]) => !basename(folder).endsWith(`-${version}`))
      isOk &&= wrong.length === 0
      seen.push(`${versions.size - wrong.length} of ${versions.size} processes of ${basename(folder)}`)
    }
    return { isOk, seen: seen.join(', then ') }
  }
}

/** The first instance of each process, then, after some time, the others. */
async function restartAll(installation: Installation): Promise<void> {
  const service = installation.service()
  const isFirst = ({ name }: { name: string }): boolean => name.endsWith('.1')
  const [first, others] = [service.processes.filter(isFirst), service.processes.filter(process => !isFirst(process))]
  for (const instances of [first, others]) {
    for (const instance of instances) {
      await restarted(instance)
      await service.untilReady()
    }
    await delay(SIDE_BY_SIDE_MS)
  }
}
