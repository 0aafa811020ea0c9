import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ensureKeyFiles, keyFilesIn } from '../../vault/key-files.js'
import { loadOpener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'
import { VaultError } from '../../vault/vault-error.js'
import { until } from '../support/conditions.js'

const context = { merchantId: 'mer_1', subjectId: 'tok_1' }
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
