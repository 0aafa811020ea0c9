import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { unpackRelease } from './release.js'
import { runLiveDrill, stepNames } from './run-drill.js'

describe('a live installation, set up as the docs say (npm run live-drill)', () => {
  let dir = ''
  let release = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'drill-release-'))
    await chmod(dir, 0o711)
    release = await unpackRelease(process.cwd(), dir)
  })
  after(() => rm(dir, { recursive: true, force: true }))

  it('charges cards, has no problem, keeps secrets apart and rotates keys', async () => {
    const results = await runLiveDrill({
      root: process.cwd(),
      release,
      steps: stepNames,
      rate: 5,
      seed: 1,
      output: () => undefined,
      onStep: () => undefined
    })
    expect(results.filter(({ state }) => state === 'FAILED')).to.deep.equal([])
    expect(results.map(({ name }) => name)).to.deep.equal(stepNames)
  })
})
