import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { runLiveDrill, type StepResult, shortSteps } from './run-drill.js'

const ACL_DIR = resolve('ops/redis')

async function drill(steps: readonly string[], aclDir?: string): Promise<StepResult[]> {
  return await runLiveDrill({
    root: process.cwd(),
    steps,
    rate: 10,
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

  it('passes the short drill', async () => {
    const results = await drill(shortSteps)
    expect(results.filter(({ state }) => state === 'FAILED')).to.deep.equal([])
    expect(results.map(({ name }) => name)).to.deep.equal(shortSteps)
  })

  it('fails the drill where Redis may not replay its own file', async () => {
    const aclDir = await mkdtemp(join(tmpdir(), 'drill-acl-'))
    try {
      for (const file of ['durable.acl', 'memory-only.acl']) {
        const rights = await readFile(join(ACL_DIR, file), 'utf8')
        await writeFile(join(aclDir, file), rights.replace(/^user default .*$/m, 'user default off'))
      }
      const failure = await drill(['durable-restart'], aclDir).then(
        ([result]) => result?.state,
        () => 'FAILED'
      )
      expect(failure).to.equal('FAILED')
    } finally {
      await rm(aclDir, { recursive: true, force: true })
    }
  })
})
