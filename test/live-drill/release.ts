/** The release that the drill installs, and the step that looks at it. */
import { mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeRelease } from '../../scripts/package/release.js'
import { findOnPath, runToEnd } from '../../scripts/start/apt-packages.js'
import type { Step } from './step.js'

const SIZE_MAX_BYTES = 40_000_000

/** Makes a release of the checkout, checks its tarball, and unpacks it below `dir`. Resolves to its folder. */
export async function unpackRelease(checkout: string, dir: string): Promise<string> {
  const made = await makeRelease({ root: checkout, outDir: join(dir, 'release') })
  if (made.sizeBytes > SIZE_MAX_BYTES) throw new Error(`The release has ${made.sizeBytes} bytes: too many.`)
  await checkSums(dirname(made.tarball), `${basename(made.tarball)}.sha256`)
  const place = join(dir, 'opt')
  await mkdir(place)
  await runToEnd('tar', ['-x', '-f', made.tarball, '-C', place])
  return join(place, basename(made.folder))
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
    const told = new Map([['operator', operator]])
    for (const [name, url] of await installation.opsUrls()) {
      const answer: { version?: unknown } = Object(await (await fetch(`${url}/healthz`)).json())
      told.set(name, String(answer.version))
    }
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
