import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { secretFilesOf } from '../../runtime/config.js'
import { openFilesWarning } from '../../runtime/secret-files.js'
import type { ProcessName } from '../../runtime/setting.js'

describe('a file with secrets', () => {
  let dir = ''
  let file = ''
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'secret-files-'))
    file = join(dir, 'keys.json')
    await writeFile(file, '{}', { mode: 0o600 })
  })
  after(() => rm(dir, { recursive: true, force: true }))

  it('causes a warning while every user of the machine may read it, also behind a link', async () => {
    const link = join(dir, 'link')
    await symlink(file, link)
    const files = [{ variable: 'WEBHOOK_KEYS_FILE', file: link }]
    for (const mode of [0o600, 0o640, 0o440]) {
      await chmod(file, mode)
      expect(await openFilesWarning(files), mode.toString(8)).to.equal(undefined)
    }
    for (const mode of [0o644, 0o604, 0o602]) {
      await chmod(file, mode)
      expect(await openFilesWarning(files)).to.equal(
        `Every user of this machine has rights to files with secrets: WEBHOOK_KEYS_FILE (${link}, mode ${mode.toString(8)}). Remove them: chmod o= FILE.`
      )
    }
  })

  it('is checked by the processes that read it; public keys are not', () => {
    const env = {
      VAULT_PUBLIC_KEYS_FILE: '/keys/public',
      VAULT_PRIVATE_KEYS_FILE: '/keys/private',
      WEBHOOK_KEYS_FILE: '/keys/webhooks',
      REDIS_URL_FILE: '/run/redis',
      NETWORK_MERCHANT_KEY: 'given itself',
      NETWORK_MERCHANT_KEY_FILE: '/run/ignored'
    }
    const filesOf = (name: ProcessName): string[] => secretFilesOf(name, env).map(({ file }) => file)
    expect(filesOf('payments')).to.have.members(['/run/redis', '/keys/private'])
    expect(filesOf('api')).to.have.members(['/run/redis', '/keys/webhooks'])
    expect(filesOf('webhooks')).to.have.members(['/run/redis', '/keys/webhooks'])
    expect(filesOf('tokens')).to.have.members(['/run/redis'])
  })
})
