import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { type ServiceUnderTest, startService } from '../support/service.js'

/** All shell examples of a page, in their order, as a person would paste them. */
function examplesOf(page: string): string {
  return [...readFileSync(page, 'utf8').matchAll(/```sh\n(.*?)```/gs)].map(([, code]) => code).join('\n')
}

describe('the examples of docs/API.md, as they stand there', () => {
  let service: ServiceUnderTest
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('charge, capture, refund, read, list, store a card and register a webhook', async () => {
    // Any 4xx or 5xx ends the script; each answer gets a line of its own.
    const strict = `set -euo pipefail; curl() { command curl --fail-with-body -w '\\n' "$@"; }\n`
    const { stdout } = await promisify(execFile)('bash', ['-c', strict + examplesOf('docs/API.md')], {
      env: { ...process.env, DATA_DIR: service.dataDir }
    })
    const answers = stdout
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(answers.map(({ status }) => status)).to.deep.equal([
      ...['captured', 'partially_refunded', 'refunded', 'refunded'],
      undefined,
      'captured',
      'active',
      ...[undefined, undefined, undefined]
    ])
    expect(answers[0]).to.include({ amount_cents: 15_990, captured_cents: 12_000 })
    expect(answers[4]).to.have.property('items').with.lengthOf(1)
    expect(answers[5]).to.have.nested.property('card.card_id').that.is.a('string')
    expect(answers[6]).to.have.property('last4')
    expect(answers[7]?.['secret']).to.match(/^whsec_/)
    expect(answers[8]).to.include({ url: 'https://shop.example/hooks/payments' }).and.not.to.have.property('secret')
    expect(answers[9]).to.include({ key_environment: 'test' })
  })
})
