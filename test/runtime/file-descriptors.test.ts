import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { expect } from 'chai'
import { descriptorsMax, descriptorsNeeded, descriptorsWarning } from '../../runtime/file-descriptors.js'

const settings = { workerConcurrency: 1_000, webhookConcurrency: 128 }

describe('the descriptors of a process', () => {
  it('suffice for what its settings let it do at the same time', () => {
    const needed = (name: Parameters<typeof descriptorsNeeded>[0]) => descriptorsNeeded(name, settings)
    expect(needed('api')).to.equal(256 + 2_048)
    expect(needed('payments')).to.equal(256 + 1_000)
    expect(needed('timers')).to.equal(256)
  })

  it('are a warning when they do not, with the limit and what is needed', async () => {
    expect(await descriptorsWarning(2_304, 200)).to.match(
      /^Only 200 files and connections .* needs 2304: .*LimitNOFILE.*ulimit -n/
    )
    expect(await descriptorsWarning(2_304, 2_304)).to.equal(undefined)
    expect(await descriptorsWarning(2_304, Number.POSITIVE_INFINITY)).to.equal(undefined)
    expect(descriptorsMax()).to.be.greaterThan(100)
  })

  it('are a warning when nearly all are in use, where the system lists them', async () => {
    const files = await Promise.all(Array.from({ length: 100 }, () => open('/dev/null')))
    try {
      const warning = (await descriptorsWarning(1, 100)) ?? ''
      // More than 199 are open when the process runs other test files, too.
      expect(/^[1-9]\d\d+ of 100 files and connections are open/.test(warning)).to.equal(existsSync('/proc/self/fd'))
      expect(await descriptorsWarning(1, 10_000)).to.equal(undefined)
    } finally {
      await Promise.all(files.map(file => file.close()))
    }
  })
})
