import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'chai'
import { type TemporaryFolder, temporaryFolder } from '../../../scripts/command-line/temporary-folder.js'
import { makeRelease, type Release } from '../../../scripts/package/release.js'

describe('a release', () => {
  let place: TemporaryFolder
  let made: Release
  before(async () => {
    place = await temporaryFolder('release-')
    made = await makeRelease({ root: resolve('.'), outDir: place.path })
  })
  after(() => place.remove())
  const sums = (): string => readFileSync(resolve(made.folder, 'SHA256SUMS'), 'utf8')

  it('has what its reader looks for first, and a hash of each file', () => {
    for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE', 'docs/DEPLOYING.md', 'bin/operator']) {
      expect(sums()).to.match(new RegExp(`^[0-9a-f]{64}  ${name}$`, 'm'))
    }
  })

  it('is a folder from which deploy/Dockerfile builds the image, without the secrets of a trial', () => {
    expect(readFileSync(resolve(made.folder, 'deploy/Dockerfile.dockerignore'), 'utf8')).to.equal('.data\n')
    expect(sums()).to.contain('  deploy/Dockerfile\n').and.contain('  dist/api/api.js\n')
  })
})
