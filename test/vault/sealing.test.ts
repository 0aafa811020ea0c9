import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { keyIdOf } from '../../vault/box.js'
import { VaultError } from '../../vault/errors.js'
import { addKey, generateKeyFiles, keyFilesIn } from '../../vault/key-files.js'
import { withKeyLock } from '../../vault/key-lock.js'
import { loadOpener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'
import { until } from '../support/conditions.js'

const card = {
  number: '4024007153760060',
  holderName: 'Conceição Araújo',
  expirationMonth: '07',
  expirationYear: '2031'
}
const context = { merchantId: 'mer_1', subjectId: 'tok_1' }

describe('vault', () => {
  let dir = ''

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vault-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
  })

  function open() {
    const { publicFile, privateFile } = generateKeyFiles(dir)
    return { sealer: loadSealer(publicFile), opener: loadOpener(privateFile) }
  }

  const rotate = (name?: string): Promise<string> =>
    withKeyLock(keyFilesIn(dir), async lock => addKey(lock, name).keyId)

  /** Runs `action` and returns the vault error that it must end in. */
  function failure(action: () => unknown): VaultError {
    try {
      action()
    } catch (error) {
      if (error instanceof VaultError) return error
      throw error
    }
    throw new Error('The action succeeded, although it had to fail.')
  }

  it('opens what it sealed, for any card and CVV', () => {
    const { sealer, opener } = open()
    const text = fc.string({ unit: 'grapheme', maxLength: 40 })
    fc.assert(
      fc.property(text, text, text, (number, holderName, cvv) => {
        const sealed = { ...card, number, holderName }
        expect(opener.openCard(sealer.sealCard(sealed, context), context)).to.deep.equal(sealed)
        expect(opener.openCvv(sealer.sealCvv(cvv, context), context)).to.equal(cvv)
        const typed = { ...sealed, cvv }
        expect(opener.openTyped(sealer.sealTyped(typed, context), context)).to.deep.equal(typed)
      }),
      { numRuns: 50 }
    )
  })

  it('writes boxes as v1.<key id>.<base64url>, and never two alike', () => {
    const { sealer } = open()
    const box = sealer.sealCvv('123', context)
    expect(box).to.match(/^v1\.k1-[0-9a-f]{6}\.[A-Za-z0-9_-]+$/)
    expect(sealer.sealCvv('123', context)).not.to.equal(box)
  })

  it('refuses a box of another merchant, another token, or another kind, and opens nothing', () => {
    const { sealer, opener } = open()
    const box = sealer.sealCard(card, context)
    const cvvBox = sealer.sealCvv('123', context)
    const wrong = [
      () => opener.openCard(box, { ...context, merchantId: 'mer_2' }),
      () => opener.openCard(box, { ...context, subjectId: 'tok_2' }),
      () => opener.openCard(box, { merchantId: 'tok_1', subjectId: 'mer_1' }),
      () => opener.openCvv(box, context),
      () => opener.openCard(cvvBox, context),
      () => opener.openTyped(box, context),
      () => opener.openCard(sealer.sealTyped({ ...card, cvv: '123' }, context), context)
    ]
    for (const action of wrong) expect(failure(action).code).to.equal('wrong_context')
  })

  it('cannot be tricked by an id that looks like the rest of a label', () => {
    const { sealer, opener } = open()
    const box = sealer.sealCvv('123', { merchantId: 'a","b', subjectId: 'c' })
    expect(failure(() => opener.openCvv(box, { merchantId: 'a', subjectId: 'b' })).code).to.equal('wrong_context')
  })

  it('refuses a changed, cut or invented box', () => {
    const { sealer, opener } = open()
    const box = sealer.sealCard(card, context)
    const changed = box.slice(0, 20) + (box[20] === 'A' ? 'B' : 'A') + box.slice(21)
    for (const bad of [changed, box.slice(0, -8), box.slice(0, 12), '', 'v1.k1.', 'v2.k1.AAAA', `${box}\n`]) {
      expect(failure(() => opener.openCard(bad, context)).code, bad.slice(0, 12)).to.equal('damaged_box')
    }
  })

  it('says nothing about card data in any error', () => {
    const { sealer, opener } = open()
    const box = sealer.sealCard(card, context)
    const errors = [
      failure(() => opener.openCvv(box, context)),
      failure(() => opener.openCard(box, { ...context, subjectId: 'tok_2' })),
      failure(() => opener.openCard(box.slice(0, -8), context))
    ]
    for (const error of errors) {
      const shown = JSON.stringify([error.message, error.stack, Object.entries(error), error.cause])
      expect(shown).not.to.contain(card.number).and.not.to.contain(card.holderName)
      expect(error.cause).to.equal(undefined)
    }
  })

  it('goes on after a rotation without a restart: opens boxes of both keys, and seals with the new one', async () => {
    const { sealer, opener } = open()
    const oldBox = sealer.sealCard(card, context)
    const keyId = await rotate()
    expect(keyId).to.match(/^k2-[0-9a-f]{6}$/)
    const elsewhere = open().sealer.sealCard(card, context)
    expect(keyIdOf(elsewhere)).to.equal(keyId)
    expect(opener.openCard(elsewhere, context)).to.deep.equal(card)
    expect(opener.openCard(oldBox, context)).to.deep.equal(card)
    await until('the sealer has the new key', () => keyIdOf(sealer.sealCard(card, context)) === keyId)
  })

  it('adds no second key when a rotation to a key is repeated, and takes no name twice', async () => {
    open()
    const keyId = await rotate('k-2027')
    expect(keyId).to.match(/^k-2027-[0-9a-f]{6}$/)
    expect([await rotate('k-2027'), await rotate(keyId)]).to.deep.equal([keyId, keyId])
    for (const name of ['k1', 'k.3', 'a-name-of-26-characters-xxx']) {
      const error = await rotate(name).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(VaultError)
      expect(String(error)).to.match(/cannot be the name of a new key/)
    }
  })

  it('works on with the keys that it has when a file of keys is damaged or gone', () => {
    const { sealer, opener } = open()
    const box = sealer.sealCard(card, context)
    rmSync(keyFilesIn(dir).privateFile)
    expect(failure(() => opener.openCard(box.replace('v1.k1-', 'v1.k9-'), context))).to.include({ code: 'unknown_key' })
    expect(opener.openCard(box, context)).to.deep.equal(card)
  })

  it('cannot open with the key of another installation, even under the same id', () => {
    const { sealer } = open()
    const other = generateKeyFiles(join(dir, 'other'))
    const box = sealer.sealCard(card, context)
    const theirId = keyIdOf(loadSealer(other.publicFile).sealCard(card, context))
    const renamed = box.replace(keyIdOf(box), theirId)
    expect(failure(() => loadOpener(other.privateFile).openCard(box, context)).code).to.equal('unknown_key')
    expect(failure(() => loadOpener(other.privateFile).openCard(renamed, context)).code).to.equal('damaged_box')
  })
})
