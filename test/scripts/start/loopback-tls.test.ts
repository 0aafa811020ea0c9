import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readLoopbackTls, writeTrustedAuthorities } from '../../../scripts/start/loopback-tls.js'

describe('certificates for receivers on this machine', () => {
  let dir = ''
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-tls-'))
  })
  afterEach(() => rm(dir, { recursive: true }))

  it('are trusted beside the authorities of the operator, from start to start', async () => {
    const given = join(dir, 'company.pem')
    await writeFile(given, 'AUTHORITY OF THE COMPANY\n')
    const file = await writeTrustedAuthorities(dir, given)
    const { ca } = await readLoopbackTls(dir)
    expect(await readFile(file, 'utf8')).to.equal(`${ca}\nAUTHORITY OF THE COMPANY\n`)
    expect(await readFile(await writeTrustedAuthorities(dir, undefined), 'utf8')).to.equal(`${ca}\n`)
  })

  it('have a key that only its owner can read', async () => {
    await writeTrustedAuthorities(dir, undefined)
    expect((await stat(join(dir, 'webhooks', 'loopback-key.pem'))).mode & 0o777).to.equal(0o600)
  })

  it('report what to do when they are missing', async () => {
    const error = await readLoopbackTls(dir).catch((reason: unknown) => reason)
    expect(String(error)).to.contain('Run `npm start` first')
  })
})
