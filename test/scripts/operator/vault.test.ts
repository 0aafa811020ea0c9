import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createCardStore } from '../../../redis/cards/cards.js'
import { createSealedCards } from '../../../redis/cards/sealed-cards.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { recordedKeys } from '../../../redis/installation/key-record.js'
import { keys } from '../../../redis/keys.js'
import { recordNewKey } from '../../../redis/operator/key-rotation.js'
import { ensureKeyFiles, type KeyFiles, keyFilesIn } from '../../../vault/key-files.js'
import { readKeyRing } from '../../../vault/key-ring.js'
import { loadOpener } from '../../../vault/opener.js'
import { loadSealer } from '../../../vault/sealer.js'
import { aCard } from '../../support/cards.js'
import { type OperatorAnswer, operate } from '../../support/operator.js'
import { useRedis } from '../../support/redis.js'

const CARDS = 30
const card = { number: '4024007153760060', holderName: 'Ana', expirationMonth: '07', expirationYear: '2031' }

interface KeyRow {
  readonly key_id: string
  readonly cards: number
  readonly tried: number
  readonly opened: number
}

/** Remembers what every stored card is sealed in. */
async function keepBoxes(redis: Redis): Promise<{ putBack(): Promise<void> }> {
  const records = new Map<string, string>()
  for await (const { key, record } of createSealedCards(redis).all()) records.set(key, record)
  return {
    putBack: async () => {
      for (const [key, record] of records) await redis.set(key, record)
    }
  }
}

describe('operator vault', () => {
  const test = useRedis()
  let dir = ''
  let files: KeyFiles

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'operator-vault-'))
    files = ensureKeyFiles(keyFilesIn(join(dir, 'here')))
    await test.redis.flushdb()
    const store = createCardStore(unreplicated(test.redis), 1)
    const sealer = loadSealer(files.publicFile)
    for (const plain of Array.from({ length: CARDS }, () => aCard())) {
      const context = { merchantId: plain.merchantId, subjectId: plain.tokenId }
      await store.store({ ...plain, cardBox: sealer.sealCard(card, context) })
    }
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  const vaultOf = ({ privateFile, publicFile }: KeyFiles, ...args: string[]): Promise<OperatorAnswer> => {
    const files = { VAULT_PRIVATE_KEYS_FILE: privateFile, VAULT_PUBLIC_KEYS_FILE: publicFile }
    return operate({ SERVICE_ENV: 'test', REDIS_URL: test.url, DATA_DIR: dir, ...files }, ['vault', ...args])
  }
  const vault = (...args: string[]): Promise<OperatorAnswer> => vaultOf(files, ...args)
  const keyRows = async (of = files): Promise<KeyRow[]> => (await vaultOf(of, 'status', '--json')).json().keys
  /** Opens every stored card with a private file, and says how many. */
  const openable = async (privateFile: string): Promise<number> => {
    const opener = loadOpener(privateFile)
    let count = 0
    for await (const { cardBox, merchantId, tokenId } of createSealedCards(test.redis).all()) {
      expect(opener.openCard(cardBox, { merchantId, subjectId: tokenId })).to.deep.equal(card)
      count++
    }
    return count
  }
  const edit = ({ privateFile, publicFile }: KeyFiles, change: (text: string) => string): void => {
    for (const file of [privateFile, publicFile]) writeFileSync(file, change(readFileSync(file, 'utf8')))
  }
  const currentKey = ({ publicFile }: KeyFiles): string => readKeyRing(publicFile, 'public').current
  const ageKeys = (): void => edit(files, text => text.replaceAll(/"20\d\d-[^"]+"/g, '"2020-01-01T00:00:00.000Z"'))

  it('rotate: refuses a second rotation at the same time, and every card opens afterwards', async () => {
    const first = currentKey(files)
    const runs = await Promise.all([vault('rotate', '--if-current', first), vault('rotate', '--if-current', first)])
    expect(runs.map(run => run.code).sort(), runs.map(run => run.text).join()).to.deep.equal([0, 1])
    expect(runs.map(run => run.text).join()).to.contain('is being changed by process')
    expect(Object.keys(readKeyRing(files.privateFile, 'private').keys)).to.have.lengthOf(2)
    expect(await openable(files.privateFile)).to.equal(CARDS)
  })

  it('rotate: a copy of the key files on another machine leaves cards of the first one unchanged, and says what to do', async () => {
    cpSync(join(dir, 'here'), join(dir, 'there'), { recursive: true })
    const there = ensureKeyFiles(keyFilesIn(join(dir, 'there')))
    expect((await vault('rotate')).code).to.equal(0)
    const theirs = await vaultOf(there, 'rotate')
    expect(theirs.code).to.equal(1)
    expect(theirs.text).to.match(new RegExp(`left as they are: ${CARDS} of ${currentKey(files)}\\..*add its entry`))
    expect((await vaultOf(there, 'status')).text).to.match(new RegExp(`${currentKey(files)} +MISSING +30`))
    expect(await openable(files.privateFile)).to.equal(CARDS)
  })

  it('rotate and status: a card counts as sealed with a key only if the key opens it', async () => {
    const other = ensureKeyFiles(keyFilesIn(join(dir, 'other')))
    for await (const { key, record } of createSealedCards(test.redis).all()) {
      await test.redis.set(key, record.replace(currentKey(files), currentKey(other)))
    }
    expect((await vaultOf(other, 'status')).text).to.match(new RegExp(`${currentKey(other)} +DOES NOT OPEN +30 +20 +0`))
    const rotated = await vaultOf(other, 'rotate')
    expect(rotated.code).to.equal(1)
    expect(rotated.text).to.match(new RegExp(`left as they are: ${CARDS} of [a-p]{20}\\.`))
  })

  it('retire: refuses while a card needs the key, and for two days after the rotation', async () => {
    const first = readKeyRing(files.privateFile, 'private').current
    // A rotation that was cut off after its first half: the key is there, the cards are not sealed with it.
    const sealed = await keepBoxes(test.redis)
    await vault('rotate')
    await sealed.putBack()
    expect((await vault('retire', first, '--yes')).text).to.contain('may still be alive')
    ageKeys()
    const refused = await vault('retire', first, '--yes')
    expect(refused.code).to.equal(1)
    expect(refused.text).to.contain(`still seals ${CARDS} stored cards`)
    expect(await openable(files.privateFile)).to.equal(CARDS)

    expect((await vault('rotate', '--if-current', first)).code).to.equal(0)
    expect((await vault('retire', first, '--yes')).code).to.equal(0)
    expect((await keyRows()).map(row => row.key_id)).to.deep.equal([readKeyRing(files.publicFile, 'public').current])
    expect(await openable(files.privateFile)).to.equal(CARDS)
    expect(await vault('retire', first, '--yes')).to.include({ code: 1 })
  })

  it('rotate: can be repeated, and refuses the id of another ring', async () => {
    const first = currentKey(files)
    const { key_id: second } = (await vault('rotate', '--if-current', first, '--json')).json()
    const repeated = await vault('rotate', '--if-current', first)
    expect(repeated.text).to.contain(`Key ${second} is the current one: 0 stored cards`)
    expect(repeated.text).to.contain(`vault rotate --if-current ${first}`)
    expect((await vault('rotate', '--if-current', 'k2')).text).to.contain('There is no key k2; the ring has')
    expect(await recordedKeys(test.redis, 'vault')).to.deep.equal([first, second])
  })

  it('retire: refuses when Redis has no record of the keys, or that of another installation', async () => {
    const first = currentKey(files)
    await vault('rotate')
    ageKeys()
    await test.redis.del(keys.keyRecord('vault'))
    expect((await vault('retire', first, '--yes')).text).to.contain('is it the right Redis?')
    await recordNewKey(test.redis, 'vault', 'theirs')
    expect((await vault('retire', first, '--yes')).text).to.contain('belongs to another installation')
    expect(Object.keys(readKeyRing(files.privateFile, 'private').keys)).to.have.lengthOf(2)
  })

  it('retire: removes a key from the record that an interrupted rotation left there', async () => {
    await vault('rotate')
    const { length } = await recordedKeys(test.redis, 'vault')
    await recordNewKey(test.redis, 'vault', 'leftover')
    expect((await vault('status')).text).to.match(/leftover +MISSING +0/)
    expect((await vault('retire', 'leftover', '--yes')).code).to.equal(0)
    expect(await recordedKeys(test.redis, 'vault')).to.have.lengthOf(length)
  })
})
