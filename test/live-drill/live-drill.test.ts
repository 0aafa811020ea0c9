import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { unpackRelease } from './release.js'
import { runLiveDrill } from './run-drill.js'

/** A dead endpoint and a restart of Redis are in other tests, with the same files: test/system/redis-access. */
const STEPS = ['release', 'first-charge', 'doctor', 'own-users', 'vault-keys']

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
      steps: STEPS,
      rate: 5,
      payments: 0,
      seed: 1,
      output: () => undefined,
      onStep: () => undefined
    })
    expect(results.filter(({ state }) => state === 'FAILED')).to.deep.equal([])
    expect(results.map(({ name }) => name)).to.deep.equal(STEPS)
  })
})
