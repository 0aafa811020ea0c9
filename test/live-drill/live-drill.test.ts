import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { unpackRelease } from './release.js'
import { runLiveDrill, type StepResult, shortSteps } from './run-drill.js'

const ACL_DIR = resolve('ops/redis')
/**
 * Each takes as long as all others together, and each process is refused by other tests: with wrong data and foreign keys in
 * refused-starts.test.ts and key-files.test.ts, with a wrong clock in warnings.test.ts.
 */
const SHOWN_ELSEWHERE = ['wrong-environment', 'foreign-keys', 'wrong-clock']

async function drill(release: string, steps: readonly string[], aclDir?: string): Promise<StepResult[]> {
  return await runLiveDrill({
    root: process.cwd(),
    release,
    steps,
    rate: 5,
    payments: 0,
    outageMs: 1_000,
    ...(aclDir === undefined ? {} : { aclDir }),
    seed: 1,
    output: () => undefined,
    onStep: () => undefined
  })
}

describe('a live installation, set up as the docs say (npm run live-drill)', function () {
  this.timeout(240_000)
  let dir = ''
  let release = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'drill-release-'))
    await chmod(dir, 0o711)
    release = await unpackRelease(process.cwd(), dir)
  })
  after(() => rm(dir, { recursive: true, force: true }))

  it('passes the short drill', async () => {
    const steps = shortSteps.filter(name => !SHOWN_ELSEWHERE.includes(name))
    const results = await drill(release, steps)
    expect(results.filter(({ state }) => state === 'FAILED')).to.deep.equal([])
    expect(results.map(({ name }) => name)).to.deep.equal(steps)
  })

  it('fails the drill where Redis may not replay its own file', async () => {
    const aclDir = await mkdtemp(join(tmpdir(), 'drill-acl-'))
    try {
      for (const file of ['durable.acl', 'memory-only.acl']) {
        const rights = await readFile(join(ACL_DIR, file), 'utf8')
        await writeFile(join(aclDir, file), rights.replace(/^user default .*$/m, 'user default off'))
      }
      const failure = await drill(release, ['durable-restart'], aclDir).then(
        ([result]) => result?.state,
        () => 'FAILED'
      )
      expect(failure).to.equal('FAILED')
    } finally {
      await rm(aclDir, { recursive: true, force: true })
    }
  })
})
