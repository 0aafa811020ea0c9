import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { readArchiveFacts } from '../../archive/facts.js'
import { startPostgres } from '../../scripts/start/embedded-postgres.js'
import { makeLoopbackTls } from '../../scripts/start/loopback-tls.js'
import { freePort } from '../../scripts/start/ports.js'
import { obtainPostgres } from '../../scripts/start/postgres-binary.js'
import { archiveAt, createdAt } from '../support/archived-payments.js'

describe('TLS to the archive', () => {
  let dir = ''
  let url = ''
  let stop = async (): Promise<void> => undefined

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-archive-tls-'))
    const tls = await makeLoopbackTls()
    for (const name of ['ca', 'cert', 'key'] as const) await writeFile(join(dir, `${name}.pem`), tls[name])
    await writeFile(join(dir, 'other-ca.pem'), (await makeLoopbackTls('another authority')).ca)
    const binary = await obtainPostgres(resolve('.vendor'), () => undefined)
    const start = { binary, port: await freePort(), dir: join(dir, 'server'), onOutput: () => undefined }
    const plain = await startPostgres(start)
    await plain.process.stop(2_000)
    // The server wants its key to itself. It finds files in its data folder.
    for (const name of ['cert', 'key'] as const) {
      const file = join(dir, 'server/data', `${name}.pem`)
      await writeFile(file, tls[name], { mode: 0o600 })
      if (process.getuid?.() === 0) await chown(file, 65_534, 65_534)
    }
    const settings = ['ssl=on', 'ssl_cert_file=cert.pem', 'ssl_key_file=key.pem']
    const server = await startPostgres({ ...start, settings })
    stop = () => server.process.stop(2_000)
    url = server.url
  })
  after(async () => {
    await stop()
    await rm(dir, { recursive: true, force: true })
  })

  const answerWith = async (query: string): Promise<string> => {
    const archive = archiveAt(`${url}?${query}`)
    const answer = archive.migrate().then(() => archive.put([createdAt(Date.UTC(2026, 0, 1))]))
    const text = await answer.then(() => 'stored', String)
    await archive.close()
    return text
  }

  it('needs the authority of the server with sslmode=verify-full', async () => {
    expect(await answerWith(`sslmode=verify-full&sslrootcert=${join(dir, 'ca.pem')}`)).to.equal('stored')
    expect(await answerWith(`sslmode=verify-full&sslrootcert=${join(dir, 'other-ca.pem')}`)).to.contain('certificate')
    expect(await answerWith('sslmode=verify-full')).to.contain('certificate')
  })

  it('is seen by operator doctor', async () => {
    const isEncrypted = async (query: string): Promise<boolean> =>
      (await readArchiveFacts(`${url}?${query}`, 5_000)).isEncrypted
    expect(await isEncrypted(`sslmode=verify-full&sslrootcert=${join(dir, 'ca.pem')}`)).to.equal(true)
    expect(await isEncrypted('')).to.equal(false)
  })
})
