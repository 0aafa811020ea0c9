/** What the image is built from: a clone of the checkout with its history, and a release. */
import { copyFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeRelease } from '../../scripts/package/release.js'
import { runToEnd } from '../../scripts/start/apt-packages.js'

/** What this machine trusts: with the authority of its proxy, where it is behind one. */
const TRUSTED = process.env['NODE_EXTRA_CA_CERTS'] ?? '/etc/ssl/certs/ca-certificates.crt'

/** Makes `checkout`, `release` and `authority.pem` in `folder`. Changes that are not committed are in the release only. */
export async function makeSources(root: string, folder: string): Promise<void> {
  await runToEnd('git', ['clone', '--quiet', '--no-hardlinks', root, join(folder, 'checkout')])
  const made = join(folder, 'made')
  await makeRelease({ root, outDir: made })
  const [name = ''] = (await readdir(made, { withFileTypes: true })).filter(it => it.isDirectory()).map(it => it.name)
  await rename(join(made, name), join(folder, 'release'))
  await rm(made, { recursive: true })
  await copyFile(TRUSTED, join(folder, 'authority.pem'))
}
