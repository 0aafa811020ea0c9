import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createCardStore } from '../../../redis/cards/cards.js'
import { createSealedCards } from '../../../redis/cards/sealed-cards.js'
import { writeHeartbeat } from '../../../redis/commands/takeover.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { recordedKeys } from '../../../redis/installation/key-record.js'
import { recordNewKey } from '../../../redis/operator/key-rotation.js'
import { keyIdOf } from '../../../vault/box.js'
import { ensureKeyFiles, type KeyFiles, keyFilesIn } from '../../../vault/key-files.js'
import { readKeyRing } from '../../../vault/key-ring.js'
import { loadOpener } from '../../../vault/opener.js'
import { loadSealer } from '../../../vault/sealer.js'
import { aCard } from '../../support/cards.js'
import { until } from '../../support/conditions.js'
import { type OperatorAnswer, operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

const card = { number: '4024007153760060', holderName: 'Ana', expirationMonth: '07', expirationYear: '2031' }

/** The ops server of a `payments` on another machine, which has a copy of the private file. */
function startPayments(privateFile: string): Server {
  const opener = loadOpener(privateFile)
  return createServer(({ url }, response) => {
    const facts = { 'vault key': opener.keyIds().current, 'vault keys': opener.keyIds().all.join(' ') }
    response.end(url === '/readyz' ? JSON.stringify({ process: 'payments', problems: {}, warnings: {}, facts }) : '')
  }).listen(0, '127.0.0.1')
}

describe('operator vault rotate, with `payments` on another machine', () => {
  const test = useRedis()
  let dir = ''
  let files: KeyFiles
  let first = ''
  let theirFile = ''
  let payments: Server
  let ops = ''

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'vault-phases-'))
    files = ensureKeyFiles(keyFilesIn(join(dir, 'here')))
    first = readKeyRing(files.privateFile, 'private').current
    theirFile = join(dir, 'theirs.json')
    copyFileSync(files.privateFile, theirFile)
    await test.redis.flushdb()
    const plain = aCard()
    const context = { merchantId: plain.merchantId, subjectId: plain.tokenId }
    const cardBox = loadSealer(files.publicFile).sealCard(card, context)
    await createCardStore(unreplicated(test.redis), 1).store({ ...plain, cardBox })
    payments = startPayments(theirFile)
    await once(payments, 'listening')
    ops = `http://127.0.0.1:${(payments.address() as AddressInfo).port}`
    await writeHeartbeat(test.redis, 'payments-1')
  })
  afterEach(() => {
    payments.close()
    payments.closeAllConnections()
    rmSync(dir, { recursive: true })
  })

  const environment = (): Record<string, string> => ({
    ...{ SERVICE_ENV: 'test', REDIS_URL: test.url, DATA_DIR: dir, TAKEOVER_AFTER_MS: '60000' },
    VAULT_PRIVATE_KEYS_FILE: files.privateFile,
    VAULT_PUBLIC_KEYS_FILE: files.publicFile
  })
  const vault = (...args: string[]): Promise<OperatorAnswer> => operate(environment(), ['vault', ...args])
  const bringTheFile = (): void => copyFileSync(files.privateFile, theirFile)
  const sealedWith = async (): Promise<string[]> => {
    const ids: string[] = []
    for await (const { cardBox } of createSealedCards(test.redis).all()) ids.push(keyIdOf(cardBox))
    return ids
  }
  const nextKey = (): string | undefined => readKeyRing(files.privateFile, 'private').next

  it('seals nothing with a key that a running process lacks, and continues when it has the key', async () => {
    const refused = await vault('rotate', '--ops', ops)
    expect(refused.code, refused.text).to.equal(1)
    expect(refused.text).to.contain(`payments at ${new URL(ops).host}: bring the private file there.`)
    expect(refused.text).to.contain(`vault rotate --if-current ${first}`)
    const next = nextKey() ?? expect.fail('no next key')
    expect(readKeyRing(files.publicFile, 'public').current).to.equal(first)
    expect(await sealedWith()).to.deep.equal([first])
    expect((await vault('status')).text).to.match(new RegExp(`${next} +next, seals nothing yet +0`))
    expect((await vault('retire', next, '--yes')).text).to.contain('is the next key of a rotation')

    bringTheFile()
    const done = await vault('rotate', '--if-current', first, '--ops', ops)
    expect(done.code, done.text).to.equal(0)
    expect(await sealedWith()).to.deep.equal([next])
    expect(readKeyRing(files.publicFile, 'public').current).to.equal(next)
    expect(await recordedKeys(test.redis, 'vault')).to.deep.equal([first, next])
  })

  it('counts two days for the old key from the moment when the new one became current', async () => {
    await vault('rotate', '--ops', ops)
    const next = nextKey() ?? ''
    const addedAt = Date.parse(readKeyRing(files.privateFile, 'private').keys[next]?.addedAt ?? '')
    bringTheFile()
    await vault('rotate', '--ops', ops)
    const since = Date.parse(readKeyRing(files.privateFile, 'private').keys[next]?.addedAt ?? '')
    expect(since).to.be.greaterThan(addedAt)
    expect(since).to.be.closeTo(Date.now(), 5_000)
  })

  it('refuses while a live process was not asked', async () => {
    await writeHeartbeat(test.redis, 'payments-2')
    bringTheFile()
    const refused = await vault('rotate')
    expect(refused.text).to.contain('2 `payments` run, and 0 reported their keys')
    expect(await sealedWith()).to.deep.equal([first])
  })

  it('killed before the new key is current: a repeated rotation continues with the same key', async () => {
    const child = spawn(process.execPath, ['dist/scripts/operator/operator.js', 'vault', 'rotate', '--ops', ops], {
      env: { PATH: process.env['PATH'], ...environment() },
      stdio: 'ignore'
    })
    await until('the next key', () => nextKey() !== undefined)
    child.kill('SIGKILL')
    await once(child, 'close')
    const next = nextKey() ?? expect.fail('no next key')
    rmSync(`${files.privateFile}.lock`)
    bringTheFile()
    // The other place to die: the record has the key, no file seals with it.
    await recordNewKey(test.redis, 'vault', next)
    const done = await vault('rotate', '--if-current', first, '--ops', ops)
    expect(done.code, done.text).to.equal(0)
    expect(await sealedWith()).to.deep.equal([next])
    expect((await recordedKeys(test.redis, 'vault')).filter(id => id === next)).to.have.lengthOf(1)
  })
})
