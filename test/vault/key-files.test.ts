import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { addKey, ensureKeyFiles, keyFilesIn, removeKey, webhookKeyFileIn } from '../../vault/key-files.js'
import { withKeyLock } from '../../vault/key-lock.js'
import { readKeyRing } from '../../vault/key-ring.js'
import { loadOpener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'
import { VaultError } from '../../vault/vault-error.js'

const HOUR_MS = 3_600_000
/** A process that takes the lock and keeps it. */
const HOLDER = `
const { withKeyLock } = await import(process.env.MODULE)
setInterval(() => undefined, 1_000)
await withKeyLock({ privateFile: process.env.FILE, publicFile: null }, () => {
  console.log('held')
  return new Promise(() => undefined)
})`

/** A folder of its own for each test. */
function useFolder(): () => string {
  let dir = ''
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vault-keys-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
  })
  return () => dir
}

function rotate(dir: string, announce: (keyId: string) => Promise<void> = async () => undefined): Promise<string> {
  return withKeyLock(keyFilesIn(dir), lock => addKey(lock, { announce }))
}

function retire(dir: string, keyId: string, nowMs: number): Promise<void> {
  return withKeyLock(keyFilesIn(dir), lock => removeKey(lock, keyId, nowMs))
}

/** The vault error that `work` must end in. */
async function refusal(work: Promise<unknown>): Promise<VaultError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason
  )
  if (error instanceof VaultError) return error
  throw error ?? new Error('It succeeded, although it had to fail.')
}

describe('vault key files', () => {
  const folder = useFolder()

  it('keep private keys out of the public file', async () => {
    const { publicFile, privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    await rotate(folder())
    expect(readFileSync(publicFile, 'utf8')).not.to.contain('private')
    expect(readFileSync(privateFile, 'utf8')).to.contain('private')
  })

  it('are not replaced by a second start', () => {
    const { privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    const before = readFileSync(privateFile, 'utf8')
    ensureKeyFiles(keyFilesIn(folder()))
    expect(readFileSync(privateFile, 'utf8')).to.equal(before)
  })

  it('are completed after a crash between the private and the public file', () => {
    const { publicFile, privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    const before = readFileSync(publicFile, 'utf8')
    rmSync(publicFile)
    ensureKeyFiles(keyFilesIn(folder()))
    expect(readFileSync(publicFile, 'utf8')).to.equal(before)
    expect(() => loadOpener(privateFile)).not.to.throw()
  })

  it('are not created when only the private half is missing', async () => {
    const { privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    rmSync(privateFile)
    expect(() => ensureKeyFiles(keyFilesIn(folder()))).to.throw(VaultError, /Restore the private file/)
    expect((await refusal(rotate(folder()))).message).to.match(/cannot be read/)
  })

  it('are refused for the wrong use: a private file for sealing, a public file for opening', () => {
    const { publicFile, privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    expect(() => loadSealer(privateFile)).to.throw(VaultError, /holds private keys/)
    expect(() => loadOpener(publicFile)).to.throw(VaultError, /no valid private key in "[a-p]{20}"/)
  })

  for (const [kind, fileOf] of [
    ['private', () => ensureKeyFiles(keyFilesIn(folder())).privateFile],
    ['public', () => ensureKeyFiles(keyFilesIn(folder())).publicFile],
    ['webhook', () => ensureKeyFiles(webhookKeyFileIn(folder())).privateFile]
  ] as const) {
    it(`have ids that are fingerprints, or are refused (${kind})`, () => {
      const file = fileOf()
      const { current } = readKeyRing(file, kind)
      expect(current).to.match(/^[a-p]{20}$/)
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(current, 'k1'))
      expect(() => readKeyRing(file, kind)).to.throw(VaultError, /"k1" that is not the fingerprint of the key/)
    })
  }

  it('are refused when a private key does not belong to its public key', () => {
    const { privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    const text = readFileSync(privateFile, 'utf8')
    const other = Buffer.alloc(32, 7).toString('base64')
    writeFileSync(privateFile, text.replace(/"private": "[^"]+"/, `"private": "${other}"`))
    expect(() => loadOpener(privateFile)).to.throw(VaultError, /does not belong to its public key/)
  })

  it('are refused when damaged, with the path and without their content', () => {
    const { privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    const content = readFileSync(privateFile, 'utf8')
    const secret = /"private": "([^"]+)"/.exec(content)?.[1] ?? ''
    chmodSync(privateFile, 0o600)
    for (const damaged of [
      content.slice(0, -12),
      content.replace(/"current": "./, '"current": "x'),
      '[]',
      '{"current":"abc"}',
      content.replace(/"addedAt": "[^"]+"/, '"addedAt": "yesterday"'),
      ''
    ]) {
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

describe('changes of the vault key files', () => {
  const folder = useFolder()

  for (const [signal, isLeft] of [
    ['SIGINT', false],
    ['SIGKILL', true]
  ] as const) {
    it(`${isLeft ? 'leave a lock behind' : 'leave no lock behind'} when ${signal} ends their process`, async () => {
      ensureKeyFiles(keyFilesIn(folder()))
      const lockFile = `${keyFilesIn(folder()).privateFile}.lock`
      const child = spawn(process.execPath, ['--input-type=module', '-e', HOLDER], {
        env: {
          MODULE: new URL('../../vault/key-lock.js', import.meta.url).href,
          FILE: keyFilesIn(folder()).privateFile
        }
      })
      await once(child.stdout, 'data')
      child.kill(signal)
      await once(child, 'exit')
      expect(existsSync(lockFile)).to.equal(isLeft)
      if (isLeft) expect((await refusal(rotate(folder()))).message).to.contain(`process ${child.pid} of`)
      rmSync(lockFile, { force: true })
      await rotate(folder())
      expect(Object.keys(readKeyRing(keyFilesIn(folder()).privateFile, 'private').keys)).to.have.lengthOf(2)
    })
  }

  it('do not overwrite a file that another program has changed', async () => {
    ensureKeyFiles(keyFilesIn(folder()))
    const { privateFile } = keyFilesIn(folder())
    const read = readKeyRing(privateFile, 'private')
    const { keys } = readKeyRing(ensureKeyFiles(keyFilesIn(join(folder(), 'other'))).privateFile, 'private')
    const theirs = `${JSON.stringify({ ...read, keys: { ...read.keys, ...keys } })}\n`
    const refused = await refusal(rotate(folder(), async () => writeFileSync(privateFile, theirs)))
    expect(refused.message).to.match(/changed by another program/)
    rmSync(join(folder(), 'other'), { recursive: true })
    expect(readFileSync(privateFile, 'utf8')).to.equal(theirs)
    expect(readdirSync(folder())).to.have.lengthOf(2)
  })

  it('write nothing when the new key cannot be recorded', async () => {
    const { privateFile } = ensureKeyFiles(keyFilesIn(folder()))
    const before = readFileSync(privateFile, 'utf8')
    let announced = ''
    const refused = rotate(folder(), async keyId => {
      announced = keyId
      throw new VaultError('key_file', `not recorded; the file has ${readKeyRing(privateFile, 'private').current}`)
    })
    expect((await refusal(refused)).message).to.contain('not recorded')
    expect(before).not.to.contain(announced)
    expect(readFileSync(privateFile, 'utf8')).to.equal(before)
    expect(readdirSync(folder())).to.have.lengthOf(2)
  })

  it('remove an old key two days after the last rotation, and never the current one', async () => {
    const { privateFile, publicFile } = ensureKeyFiles(keyFilesIn(folder()))
    const first = readKeyRing(privateFile, 'private').current
    const rotatedAtMs = Date.UTC(2026, 0, 2, 12)
    const second = await rotate(folder())
    const rotated = readFileSync(privateFile, 'utf8')
    writeFileSync(privateFile, rotated.replace(/"addedAt": "[^"]+"(?=[^"]*$)/, `"addedAt": "2026-01-02T12:00:00.000Z"`))
    expect((await refusal(retire(folder(), first, rotatedAtMs + 47 * HOUR_MS))).message).to.contain(
      'after 2026-01-04T12:00:00'
    )
    expect((await refusal(retire(folder(), second, rotatedAtMs + 49 * HOUR_MS))).code).to.equal('key_in_use')
    expect((await refusal(retire(folder(), 'k9', rotatedAtMs + 49 * HOUR_MS))).message).to.contain('There is no key k9')
    await retire(folder(), first, rotatedAtMs + 49 * HOUR_MS)
    for (const [file, kind] of [
      [privateFile, 'private'],
      [publicFile, 'public']
    ] as const) {
      expect(Object.keys(readKeyRing(file, kind).keys)).to.deep.equal([second])
    }
  })
})
