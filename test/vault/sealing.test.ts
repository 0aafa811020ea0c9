import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { keyIdOf } from '../../vault/box.js'
import { addKey, ensureKeyFiles, keyFilesIn } from '../../vault/key-files.js'
import { withKeyLock } from '../../vault/key-lock.js'
import { loadOpener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'
import { VaultError } from '../../vault/vault-error.js'
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
    const { publicFile, privateFile } = ensureKeyFiles(keyFilesIn(dir))
    return { sealer: loadSealer(publicFile), opener: loadOpener(privateFile) }
  }

  const rotate = (ifCurrent?: string): Promise<string> =>
    withKeyLock(keyFilesIn(dir), lock => addKey(lock, { ifCurrent, announce: async () => undefined }))

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

  it('writes boxes as v2.<key id>.<base64url>, and never the same twice', () => {
    const { sealer } = open()
    const box = sealer.sealCvv('123', context)
    expect(box).to.match(/^v2\.[a-p]{20}\.[A-Za-z0-9_-]+$/)
    expect(sealer.sealCvv('123', context)).not.to.equal(box)
  })

  it('refuses a box of another merchant, token or kind', () => {
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

  it('refuses an id that imitates the rest of a label', () => {
    const { sealer, opener } = open()
    const box = sealer.sealCvv('123', { merchantId: 'a","b', subjectId: 'c' })
    expect(failure(() => opener.openCvv(box, { merchantId: 'a', subjectId: 'b' })).code).to.equal('wrong_context')
  })

  it('refuses a changed, truncated or invented box', () => {
    const { sealer, opener } = open()
    const box = sealer.sealCard(card, context)
    const changed = box.slice(0, 60) + (box[60] === 'A' ? 'B' : 'A') + box.slice(61)
    for (const bad of [
      changed,
      box.slice(0, -8),
      box.slice(0, 12),
      '',
      'v2.k1.',
      'v2.k1.AAAA',
      box.replace('v2.', 'v1.'),
      `${box}\n`
    ]) {
      expect(failure(() => opener.openCard(bad, context)).code, bad.slice(0, 12)).to.equal('damaged_box')
    }
  })

  it('has no card data in any error', () => {
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

  it('follows a rotation without a restart: opens boxes of both keys, and seals with the new one', async () => {
    const { sealer, opener } = open()
    const oldBox = sealer.sealCard(card, context)
    const keyId = await rotate()
    const elsewhere = open().sealer.sealCard(card, context)
    expect(keyIdOf(elsewhere)).to.equal(keyId)
    expect(opener.openCard(elsewhere, context)).to.deep.equal(card)
    expect(opener.openCard(oldBox, context)).to.deep.equal(card)
    await until('the sealer has the new key', () => keyIdOf(sealer.sealCard(card, context)) === keyId)
  })

  it('keeps its keys when a key file becomes invalid, and reports that', () => {
    const { sealer, opener } = open()
    const { privateFile } = keyFilesIn(dir)
    const box = sealer.sealCard(card, context)
    const unknown = box.replace(keyIdOf(box), 'abcdefghijklmnopabcd')
    const whole = readFileSync(privateFile, 'utf8')
    const other = readFileSync(ensureKeyFiles(keyFilesIn(join(dir, 'other'))).privateFile, 'utf8')
    for (const [content, problem] of [
      [null, /cannot be read \(ENOENT\)/],
      [whole.slice(0, -9), /is not a key ring/],
      [other, /no longer has the key .* belongs to another installation/]
    ] as const) {
      if (content === null) rmSync(privateFile)
      else writeFileSync(privateFile, content, { mode: 0o600 })
      expect(opener.keyProblem()).to.match(problem)
      expect(failure(() => opener.openCard(unknown, context)).message).to.match(problem)
      expect(opener.openCard(box, context)).to.deep.equal(card)
      writeFileSync(privateFile, whole)
      expect(opener.keyProblem()).to.equal(undefined)
    }
    expect(failure(() => opener.openCard(unknown, context)).message).to.contain('private file of the last rotation')
  })

  it('cannot open with the key of another installation, even under the same id', () => {
    const { sealer } = open()
    const other = ensureKeyFiles(keyFilesIn(join(dir, 'other')))
    const box = sealer.sealCard(card, context)
    const theirId = keyIdOf(loadSealer(other.publicFile).sealCard(card, context))
    const renamed = box.replace(keyIdOf(box), theirId)
    expect(failure(() => loadOpener(other.privateFile).openCard(box, context)).code).to.equal('unknown_key')
    expect(failure(() => loadOpener(other.privateFile).openCard(renamed, context)).code).to.equal('damaged_box')
  })
})

const SENDER_BYTES = 32

/** The head of a box, and the bytes after it, which begin with the public key of its sender. */
function partsOf(box: string): { head: string; bytes: Buffer } {
  const head = box.slice(0, box.lastIndexOf('.') + 1)
  return { head, bytes: Buffer.from(box.slice(head.length), 'base64url') }
}

describe('the senders of sealed boxes', () => {
  let dir = ''

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'vault-'))
  })
  afterEach(() => {
    rmSync(dir, { recursive: true })
  })

  function open(senderLifeMs?: number) {
    const { publicFile, privateFile } = ensureKeyFiles(keyFilesIn(dir))
    return { sealer: loadSealer(publicFile, senderLifeMs), opener: loadOpener(privateFile) }
  }

  it('are refused with a key of a small order', () => {
    const { sealer, opener } = open()
    const { head, bytes } = partsOf(sealer.sealCvv('123', context))
    const weak = head + bytes.fill(0, 0, SENDER_BYTES).toString('base64url')
    expect(() => opener.openCvv(weak, context))
      .to.throw(VaultError)
      .with.property('code', 'damaged_box')
  })

  it('share a secret with the vault for a while only; the boxes of all of them are opened', async () => {
    const { sealer, opener } = open(20)
    const boxes: string[] = []
    await until('the sealer has had three key pairs', () => {
      boxes.push(sealer.sealCvv('123', context))
      return new Set(boxes.map(box => partsOf(box).bytes.toString('hex', 0, SENDER_BYTES))).size === 3
    })
    expect(boxes.map(box => opener.openCvv(box, context))).to.deep.equal(boxes.map(() => '123'))
  })

  it('are forgotten when there are many, and their boxes are still opened', () => {
    const { opener } = open()
    const { publicFile } = keyFilesIn(dir)
    const boxes = Array.from({ length: 510 }, () => loadSealer(publicFile).sealCvv('123', context))
    for (const box of [...boxes, ...boxes]) expect(opener.openCvv(box, context)).to.equal('123')
  })
})
