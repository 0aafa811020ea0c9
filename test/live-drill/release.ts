/** The release that the drill installs, and the step that looks at it. */
import { mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeRelease } from '../../scripts/package/release.js'
import { findOnPath, runToEnd } from '../../scripts/start/apt-packages.js'
import type { Installation } from './installed-service.js'
import type { Step } from './step.js'

const SIZE_MAX_BYTES = 40_000_000

/** Makes a release of the checkout, checks its tarball, and unpacks it below `dir`. Resolves to its folder. */
export async function unpackRelease(checkout: string, dir: string): Promise<string> {
  const made = await makeRelease({ root: checkout, outDir: join(dir, 'release') })
  if (made.sizeBytes > SIZE_MAX_BYTES) throw new Error(`The release has ${made.sizeBytes} bytes: too many.`)
  return await unpack(made.tarball, join(dir, 'opt'))
}

/** Checks a tarball by the file beside it, and unpacks it into the new folder `place`. Resolves to the folder of the release. */
export async function unpack(tarball: string, place: string): Promise<string> {
  await checkSums(dirname(tarball), `${basename(tarball)}.sha256`)
  await mkdir(place)
  await runToEnd('tar', ['-x', '-f', tarball, '-C', place])
  return join(place, basename(tarball, '.tar.gz'))
}

/** The version that each process tells of itself, by the name of its instance. */
export async function versionsOf({ opsUrls }: Installation): Promise<Map<string, string>> {
  const versions = new Map<string, string>()
  for (const [name, url] of await opsUrls()) {
    const answer: { version?: unknown } = Object(await (await fetch(`${url}/healthz`)).json())
    versions.set(name, String(answer.version))
  }
  return versions
}

export const release: Step = {
  name: 'release',
  does: 'a release packaged and unpacked; all processes and the operator run from it',
  expects: 'its hashes are right, and each process tells its version',
  isQuiet: true,
  async run({ installation }) {
    const { root } = installation
    await checkSums(root, 'SHA256SUMS')
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const operator = (await runToEnd(join(root, 'bin/operator'), ['--version'])).trim()
    const told = new Map([['operator', operator], ...(await versionsOf(installation))])
    const wrong = [...told].filter(([, its]) => its !== version).map(([name, its]) => `${name} says ${its}`)
    const isLogged = installation.log().includes(`"version":"${version}"`)
    return {
      isOk: wrong.length === 0 && told.size > 1 && isLogged,
      seen: wrong.join('; ') || `${told.size} programs of ${version}${isLogged ? '' : ', NOT in the log'}`
    }
  }
}

/** Checks the files that `list` names in `folder`; only where the machine has the command. */
async function checkSums(folder: string, list: string): Promise<void> {
  if (findOnPath('sha256sum') !== undefined) await runToEnd('sha256sum', ['--check', '--quiet', list], {}, folder)
}
