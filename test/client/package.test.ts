import { execFile, spawn } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createTestToken } from '../../client/index.js'
import { signatureHeader } from '../../workers/webhooks/signature.js'
import { until } from '../support/conditions.js'
import { useService } from '../support/service.js'

const run = promisify(execFile)
const SECRET = 'whsec_0123456789'

/** Without what `npm test` tells its children, such as the `.npmrc` of this checkout. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

describe('the package of the client, installed into an empty folder', () => {
  const service = useService()
  let shop = ''

  before(async () => {
    shop = await mkdtemp(join(tmpdir(), 'merchant-'))
    await writeFile(join(shop, 'package.json'), '{ "private": true, "type": "module" }')
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', shop], { cwd: 'client', env })
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', stdout.trim()], { cwd: shop, env })
    const samples = (await readFile('client/README.md', 'utf8')).matchAll(/```js (\S+\.mjs)\n(.*?)```/gs)
    for (const [, name = '', code = ''] of samples) await writeFile(join(shop, name), code)
  })
  after(() => rm(shop, { recursive: true, force: true }))

  /** Runs a sample of client/README.md; resolves to what it prints. */
  async function sample(name: string, values: Record<string, string>): Promise<string> {
    const { baseUrl, apiKey } = service()
    const settings = { ...env, BASE_URL: baseUrl, API_KEY: apiKey, ...values }
    return (await run(process.execPath, [name], { cwd: shop, env: settings })).stdout.trim()
  }

  const token = (number = '4024007153760060'): Promise<string> => {
    const { tokensUrl, publishableKey } = service()
    return createTestToken({ tokensUrl, publishableKey, card: { card_number: number } }).then(made => made.token_id)
  }

  it('brings types and code, needs no other package, and leaves the sources at home', async () => {
    const folder = join(shop, 'node_modules/@card-payments/client')
    const files = await readdir(folder, { recursive: true })
    expect(files).to.include.members(['README.md', 'dist/index.js', 'dist/index.d.ts', 'fields.d.ts'])
    // For those that resolve modules without `exports`: the compiler of this project can't any more.
    const { main, types } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    expect([main, types]).to.deep.equal(['./dist/index.js', './dist/index.d.ts'])
    expect(files.filter(name => /(?<!\.d)\.ts$|\.map$|tsbuildinfo|node_modules/.test(name))).to.deep.equal([])
    expect(await readdir(join(shop, 'node_modules'))).to.have.members(['.package-lock.json', '@card-payments'])
  })

  it('is complete when it is packed again without a change', async () => {
    const { stdout } = await run('npm', ['pack', '--silent', '--dry-run', '--json'], { cwd: 'client', env })
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
    expect(files.map(({ path }) => path)).to.include.members(['README.md', 'dist/index.js', 'fields.d.ts'])
  })

  it('leaves the build of the service as it is: other commands run from it', async () => {
    const bootstrap = ['scripts/bootstrap.mjs', 'scripts/operator/operator', '--version']
    expect((await run(process.execPath, bootstrap, { env })).stderr).to.equal('')
  })

  it('charges once, however often the call is repeated, and reports a refusal as such', async () => {
    const first = { ORDER: 'readme-1', TOKEN_ID: await token() }
    expect(await sample('charge.mjs', first)).to.equal('captured 15990')
    expect(await sample('charge.mjs', first)).to.equal('captured 15990')
    const declined = await sample('charge.mjs', { ORDER: 'readme-2', TOKEN_ID: await token('4024007153760052') })
    expect(declined).to.match(/^not charged card_declined [0-9a-f-]{36}$/)
  })

  it('refunds what it lists', async () => {
    expect(await sample('charge.mjs', { ORDER: 'readme-3', TOKEN_ID: await token() })).to.equal('captured 15990')
    expect(await sample('refund.mjs', { ORDER: 'readme-3' })).to.equal('partially_refunded 990')
    expect(await sample('refund.mjs', { ORDER: 'readme-3' })).to.equal('')
  })

  it('sends nothing when the service cannot be reached, and says so', async () => {
    const nowhere = { BASE_URL: 'http://127.0.0.1:9', ORDER: 'readme-4', TOKEN_ID: 'tok_1' }
    expect(await sample('charge.mjs', nowhere)).to.match(/^not sent: repeat it with the same key Nothing was sent/)
  })

  it('accepts webhooks of the service only', async () => {
    const receiver = spawn(process.execPath, ['webhook.mjs'], {
      cwd: shop,
      env: { ...env, PORT: '0', WEBHOOK_SECRET: SECRET }
    })
    let printed = ''
    receiver.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    const url = await until('the sample listens', () => {
      const port = /port: (\d+)/.exec(printed)?.[1]
      return port === undefined ? undefined : `http://127.0.0.1:${port}/`
    })
    const body = '{"status":"captured","external_reference":"readme-5"}'
    const post = async (secret: string): Promise<number> => {
      const headers = { 'X-Service-Signature': signatureHeader([secret], Date.now(), body) }
      return (await fetch(url, { method: 'POST', body, headers })).status
    }
    expect([await post(SECRET), await post('whsec_other')]).to.deep.equal([204, 400])
    await until('both are printed', () => /captured readme-5\nrefused wrong_signature\n/.test(printed))
    receiver.kill()
  })

  it('comes with a test suite of a shop that passes against the service', async () => {
    await copyFile('client/samples/shop.test.mjs', join(shop, 'shop.test.mjs'))
    const settings = { ...env, DATA_DIR: service().dataDir }
    const { stdout } = await run(process.execPath, ['--test', 'shop.test.mjs'], { cwd: shop, env: settings }).catch(
      error => error as { stdout: string }
    )
    expect(stdout.match(/^not ok .*|^ +error: .*/gm) ?? []).to.deep.equal([])
    expect(stdout).to.match(/^# pass [1-9]/m)
  })

  it('has types that a merchant can compile with, and that refuse what the service would refuse', async () => {
    await writeFile(join(shop, 'use.mts'), TYPES_SAMPLE)
    expect(await compiled('--module', 'nodenext', 'use.mts')).to.equal('')
  })

  /** What the compiler says. */
  async function compiled(...options: string[]): Promise<string> {
    const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc')
    const all = ['--noEmit', '--strict', '--lib', 'es2023,dom', '--types', '', ...options]
    const { stdout } = await run(process.execPath, [compiler, ...all], { cwd: shop }).catch(error => error)
    return stdout
  }
})

/** Each `@ts-expect-error` fails when its line compiles. */
const TYPES_SAMPLE = `
import { ApiError, type CreatePaymentRequest, type ErrorCode, PaymentsClient, webhooks } from '@card-payments/client'
import type { Fields } from '@card-payments/client/fields'
const fields: Fields = Service.fields({ publishableKey: 'svc_test.a', element: '#card', style: { gap: '8px' } })
// @ts-expect-error no such language
Service.fields({ publishableKey: 'svc_test.a', element: '#card', locale: 'fr' })
const client = new PaymentsClient({ baseUrl: 'http://localhost', apiKey: 'svc_test.a.b' })
const source: CreatePaymentRequest['payment_source'] = { source_type: 'card', card_id: 'c1', cvv: '123' }
// @ts-expect-error a card is named by card_id
const wrong: CreatePaymentRequest['payment_source'] = { source_type: 'card', token_id: 't1' }
// @ts-expect-error no such status
client.payments.list({ status: 'paid' })
// @ts-expect-error a text is no amount
client.payments.refund('p1', { amount_cents: '10' })
const words: Partial<Record<ErrorCode, string>> = { card_declined: 'Another card, please.' }
// @ts-expect-error no such code
const other: ErrorCode = 'gone'
export const sentence = (error: unknown): string | undefined => error instanceof ApiError ? words[error.code] : undefined
export const cents: number = webhooks.verify('', '', '').captured_cents
export const all = [source, wrong, other, fields]
`
