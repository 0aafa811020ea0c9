import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { signatureHeader } from '../../../workers/webhooks/signature.js'

type IsAuthentic = (header: string, body: Buffer | string, secret: string, nowMs?: number) => boolean

const NOW_MS = Date.UTC(2026, 0, 2, 12)
const SECRET = 'whsec_0123456789'
const BODY = '{"event_id":"1","external_reference":"pedido nº 7 – “ação”"}'

describe('the snippet of docs/WEBHOOKS.md that verifies signatures, as it stands there', () => {
  let dir = ''
  let isAuthentic: IsAuthentic

  before(async () => {
    const [, snippet = ''] =
      /```js verify-webhook\.mjs\n(.*?)```/s.exec(await readFile('docs/WEBHOOKS.md', 'utf8')) ?? []
    dir = await mkdtemp(join(tmpdir(), 'payments-snippet-'))
    await writeFile(join(dir, 'verify-webhook.mjs'), snippet)
    const module = (await import(pathToFileURL(join(dir, 'verify-webhook.mjs')).href)) as { isAuthentic: IsAuthentic }
    isAuthentic = module.isAuthentic
  })
  after(() => rm(dir, { recursive: true }))

  const header = signatureHeader([SECRET], NOW_MS, BODY)

  it('believes what the service signs, as bytes or text', () => {
    expect(isAuthentic(header, BODY, SECRET, NOW_MS)).to.equal(true)
    expect(isAuthentic(header, Buffer.from(BODY), SECRET, NOW_MS)).to.equal(true)
  })

  it('believes either secret during a rotation', () => {
    const both = signatureHeader(['whsec_new', SECRET], NOW_MS, BODY)
    for (const secret of ['whsec_new', SECRET]) expect(isAuthentic(both, BODY, secret, NOW_MS)).to.equal(true)
  })

  it('tolerates 300 s either way and no more', () => {
    for (const seconds of [-300, 300])
      expect(isAuthentic(header, BODY, SECRET, NOW_MS + seconds * 1_000)).to.equal(true)
    for (const seconds of [-301, 301])
      expect(isAuthentic(header, BODY, SECRET, NOW_MS + seconds * 1_000)).to.equal(false)
  })

  it('believes nothing else', () => {
    const [time, signature = ''] = header.split(',')
    const wrong: [string, string, string][] = [
      [header, `${BODY} `, SECRET],
      [header, BODY, 'whsec_other'],
      [`t=${NOW_MS / 1_000 + 1},${signature}`, BODY, SECRET],
      [`${time},v1=`, BODY, SECRET],
      [`${time},${signature.slice(0, -2)}`, BODY, SECRET],
      [`${time},v0=${signature.slice(3)}`, BODY, SECRET],
      [signature, BODY, SECRET],
      ['t=soon,v1=00', BODY, SECRET],
      ['', BODY, SECRET]
    ]
    for (const [given, body, secret] of wrong) expect(isAuthentic(given, body, secret, NOW_MS), given).to.equal(false)
  })
})
