import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import { runMocha } from './mocha-process.js'

describe('a process of mocha', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp('dist/test/payments-mocha-')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function run(
    text: string,
    leftOpenAfterMs?: number
  ): Promise<{ file: string; outcome: Awaited<ReturnType<typeof runMocha>> }> {
    const file = relative('.', join(folder, 'made.test.js'))
    await writeFile(file, text)
    const bound = leftOpenAfterMs === undefined ? {} : { leftOpenAfterMs }
    const outcome = await runMocha([file], { options: [], report: join(folder, 'report.txt'), ...bound })
    return { file, outcome }
  }

  it('ends when nothing is left open', async () => {
    const { passed, failed, failures } = (await run("it('passes', () => undefined)")).outcome
    expect({ passed, failed, failures }).to.deep.equal({ passed: 1, failed: 0, failures: [] })
  })

  it('ends soon when a test leaves timers, and says so', async () => {
    const { outcome } = await run("it('passes', () => void setInterval(() => undefined, 1_000))", 1_500)
    expect({ passed: outcome.passed, failed: outcome.failed }).to.deep.equal({ passed: 1, failed: 0 })
    expect(await readFile(join(folder, 'report.txt'), 'utf8')).to.match(
      /Left open 500 ms after the last test: .*Timeout/
    )
  })

  it('keeps the exit code of a failed test beside a timer', async () => {
    const text = "it('fails', () => { setInterval(() => undefined, 1_000); throw new Error('as it should') })"
    expect((await run(text, 1_500)).outcome).to.deep.include({ passed: 0, failed: 1 })
  })

  it('is killed when a test leaves a server open, which fails and names its files', async () => {
    const { file, outcome } = await run(
      "import { createServer } from 'node:net'\nit('passes', () => void createServer().listen(0, '127.0.0.1'))",
      1_500
    )
    expect({ passed: outcome.passed, failed: outcome.failed }).to.deep.equal({ passed: 1, failed: 1 })
    expect(outcome.failures).to.deep.equal([
      `mocha was killed 1500 ms after its last test: a test left a server or a process open: ${file}`
    ])
  })

  it('fails with its files when it ends before its last test', async () => {
    const { file, outcome } = await run("it('ends too early', () => process.exit(3))")
    expect(outcome).to.deep.include({ passed: 0, failed: 1 })
    expect(outcome.failures).to.deep.equal([`the tests did not run to their end (exit code 3): ${file}`])
  })
})
