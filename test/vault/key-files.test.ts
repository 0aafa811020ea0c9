import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { VaultError } from '../../vault/errors.js'
import { addKey, generateKeyFiles, keyFilesIn } from '../../vault/key-files.js'
import { loadOpener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'

describe('vault key files', () => {
  let dir = ''

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vault-keys-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
  })

  it('are readable by their owner only, and nothing else is left in the folder', () => {
    const { publicFile, privateFile } = generateKeyFiles(dir)
    addKey(keyFilesIn(dir))
    for (const file of [publicFile, privateFile]) expect(statSync(file).mode & 0o777).to.equal(0o600)
    expect(readdirSync(dir)).to.have.lengthOf(2)
  })

  it('keep private keys out of the public file', () => {
    const { publicFile, privateFile } = generateKeyFiles(dir)
    addKey(keyFilesIn(dir))
    expect(readFileSync(publicFile, 'utf8')).not.to.contain('private')
    expect(readFileSync(privateFile, 'utf8')).to.contain('private')
  })

  it('are not replaced by a second start', () => {
    const { privateFile } = generateKeyFiles(dir)
    const before = readFileSync(privateFile, 'utf8')
    generateKeyFiles(dir)
    expect(readFileSync(privateFile, 'utf8')).to.equal(before)
  })

  it('are completed after a crash between the private and the public file', () => {
    const { publicFile, privateFile } = generateKeyFiles(dir)
    const before = readFileSync(publicFile, 'utf8')
    rmSync(publicFile)
    generateKeyFiles(dir)
    expect(readFileSync(publicFile, 'utf8')).to.equal(before)
    expect(() => loadOpener(privateFile)).not.to.throw()
  })

  it('are not created anew when only the private half is missing', () => {
    const { privateFile } = generateKeyFiles(dir)
    rmSync(privateFile)
    expect(() => generateKeyFiles(dir)).to.throw(VaultError, /Restore the private file/)
    expect(() => addKey(keyFilesIn(dir))).to.throw(VaultError, /cannot be read/)
  })

  it('are refused in the wrong place: a private file to seal with, a public file to open with', () => {
    const { publicFile, privateFile } = generateKeyFiles(dir)
    expect(() => loadSealer(privateFile)).to.throw(VaultError, /holds private keys/)
    expect(() => loadOpener(publicFile)).to.throw(VaultError, /no valid private key in "k1"/)
  })

  it('are refused when damaged, with the path and without a piece of their content', () => {
    const { privateFile } = generateKeyFiles(dir)
    const content = readFileSync(privateFile, 'utf8')
    const secret = /"private": "([^"]+)"/.exec(content)?.[1] ?? ''
    chmodSync(privateFile, 0o600)
    for (const damaged of [content.slice(0, -12), content.replace('"k1"', '"k9"'), '[]', '{"current":"k1"}', '']) {
      writeFileSync(privateFile, damaged)
      expect(() => loadOpener(privateFile))
        .to.throw(VaultError)
        .that.satisfies((error: VaultError) => {
          const shown = `${error.message} ${error.stack} ${String(error.cause)}`
          return error.code === 'key_file' && shown.includes(privateFile) && !shown.includes(secret.slice(0, 8))
        })
    }
  })
})
