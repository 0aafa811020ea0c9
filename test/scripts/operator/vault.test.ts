import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createCardStore } from '../../../redis/cards.js'
import { createSealedCards } from '../../../redis/sealed-cards.js'
import { connectionOf } from '../../../scripts/operator/connection.js'
import { runOperator } from '../../../scripts/operator/program.js'
import { generateKeyFiles, type KeyFiles } from '../../../vault/key-files.js'
import { readKeyRing } from '../../../vault/key-ring.js'
import { loadOpener } from '../../../vault/opener.js'
import { loadSealer } from '../../../vault/sealer.js'
import { aCard } from '../../support/cards.js'
import { useRedis } from '../../support/redis.js'

const CARDS = 30
const card = { number: '4024007153760060', holderName: 'Ana', expirationMonth: '07', expirationYear: '2031' }

interface Run {
  readonly code: number
  readonly text: string
}

interface KeyRow {
  readonly key_id: string
  readonly cards: number
  readonly tried: number
  readonly opened: number
}

describe('operator vault', () => {
  const test = useRedis()
  let dir = ''
  let files: KeyFiles

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'operator-vault-'))
    files = generateKeyFiles(join(dir, 'here'))
    await test.redis.flushdb()
    const store = createCardStore(test.redis, 1)
    const sealer = loadSealer(files.publicFile)
    for (const plain of Array.from({ length: CARDS }, () => aCard())) {
      const context = { merchantId: plain.merchantId, subjectId: plain.tokenId }
      await store.store({ ...plain, cardBox: sealer.sealCard(card, context) })
    }
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
  })

  const vaultOf = async ({ privateFile, publicFile }: KeyFiles, ...args: string[]): Promise<Run> => {
    const env = { REDIS_URL: test.url, VAULT_PRIVATE_KEYS_FILE: privateFile, VAULT_PUBLIC_KEYS_FILE: publicFile }
    let text = ''
    const write = (more: string): void => {
      text += more
    }
    const world = { connect: () => connectionOf(env), out: write, err: write }
    return { code: await runOperator(['vault', ...args], world), text }
  }
  const vault = (...args: string[]): Promise<Run> => vaultOf(files, ...args)
  const keyRows = async (of = files): Promise<KeyRow[]> => {
    const { keys } = JSON.parse((await vaultOf(of, 'status', '--json')).text) as { keys: KeyRow[] }
    return keys
  }
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
  const ageKeys = (): void => edit(files, text => text.replaceAll(/"20\d\d-[^"]+"/g, '"2020-01-01T00:00:00.000Z"'))

  it('rotate: of two at once one waits outside, and every card opens afterwards', async () => {
    const runs = await Promise.all([vault('rotate', '--to', 'k2'), vault('rotate', '--to', 'k2')])
    expect(runs.map(run => run.code).sort(), runs.map(run => run.text).join()).to.deep.equal([0, 1])
    expect(runs.map(run => run.text).join()).to.contain('is being changed by process')
    expect(Object.keys(readKeyRing(files.privateFile, 'private').keys)).to.have.lengthOf(2)
    expect(await openable(files.privateFile)).to.equal(CARDS)
  })

  it('rotate: a copy on another machine leaves the cards of the first one alone, and says what to do', async () => {
    cpSync(join(dir, 'here'), join(dir, 'there'), { recursive: true })
    const there = generateKeyFiles(join(dir, 'there'))
    expect((await vault('rotate', '--to', 'k2')).code).to.equal(0)
    const theirs = await vaultOf(there, 'rotate', '--to', 'k2')
    expect(theirs.code).to.equal(1)
    expect(theirs.text).to.match(new RegExp(`left as they are: ${CARDS} of k2-[0-9a-f]{6}\\..*add its entry`))
    expect((await vaultOf(there, 'status')).text).to.match(/k2-[0-9a-f]{6} +MISSING +30/)
    expect(await openable(files.privateFile)).to.equal(CARDS)
  })

  it('rotate and status: a card counts as sealed with a key only if the key opens it', async () => {
    // As two machines could make them before ids had a fingerprint: another key, and the same id.
    const other = generateKeyFiles(join(dir, 'other'))
    for (const each of [files, other]) edit(each, text => text.replaceAll(/k1-[0-9a-f]{6}/g, 'k1'))
    for await (const record of createSealedCards(test.redis).all()) {
      await test.redis.hset(record.key, 'box', record.cardBox.replace(/^v1\.k1-[0-9a-f]{6}/, 'v1.k1'))
    }
    expect(await openable(files.privateFile)).to.equal(CARDS)
    expect((await vaultOf(other, 'status')).text).to.match(/k1 +DOES NOT OPEN +30 +0 of 20/)
    const rotated = await vaultOf(other, 'rotate', '--to', 'k1')
    expect(rotated.code).to.equal(1)
    expect(rotated.text).to.contain(`left as they are: ${CARDS} of k1.`)
    expect(await openable(files.privateFile)).to.equal(CARDS)
  })

  it('status: opens a sample of the cards of each key', async () => {
    expect(await keyRows()).to.have.lengthOf(1)
    expect((await keyRows())[0]).to.include({ cards: CARDS, tried: 20, opened: 20 })
  })

  it('retire: not while a card needs the key, nor sooner than two days after the rotation', async () => {
    const first = readKeyRing(files.privateFile, 'private').current
    // A rotation that was cut off after its first half: the key is there, the cards are not sealed with it.
    const sealed = await keepBoxes()
    await vault('rotate', '--to', 'k2')
    await sealed.putBack()
    expect((await vault('retire', first)).text).to.contain('may still be on their way')
    ageKeys()
    const refused = await vault('retire', first)
    expect(refused.code).to.equal(1)
    expect(refused.text).to.contain(`still seals ${CARDS} stored cards`)
    expect(await openable(files.privateFile)).to.equal(CARDS)

    expect((await vault('rotate', '--to', 'k2')).code).to.equal(0)
    expect((await vault('retire', first)).code).to.equal(0)
    expect((await keyRows()).map(row => row.key_id)).to.deep.equal([readKeyRing(files.publicFile, 'public').current])
    expect(await openable(files.privateFile)).to.equal(CARDS)
    expect(await vault('retire', first)).to.include({ code: 1 })
  })

  async function keepBoxes(): Promise<{ putBack(): Promise<void> }> {
    const boxes = new Map<string, string>()
    for await (const { key, cardBox } of createSealedCards(test.redis).all()) boxes.set(key, cardBox)
    return {
      putBack: async () => {
        for (const [key, box] of boxes) await test.redis.hset(key, 'box', box)
      }
    }
  }
})
