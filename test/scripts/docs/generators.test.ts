/** Goal: tools from npm, run as merchants run them, get along with docs/openapi.json (generators/). */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { transform } from 'esbuild'
import { isRecord } from '../../../runtime/json.js'
import { OPENAPI_FILE, openApiDocument } from '../../../scripts/docs/openapi/document.js'

const FILE = resolve(OPENAPI_FILE)
const TOOLS = 'generators/node_modules'

interface Validator {
  safeParse(value: unknown): { readonly success: boolean; readonly data?: unknown }
}

/** Output of a program; rejects with all that it said when it fails. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, [program, ...args])).stdout
  } catch (error) {
    const said = isRecord(error) ? `${error['stdout']}${error['stderr']}` : String(error)
    throw new Error(`${program} failed: ${said}`, { cause: error })
  }
}

async function compileStrictly(folder: string, files: readonly string[]): Promise<void> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
    lib: ['es2022', 'dom', 'dom.iterable']
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  await run('node_modules/typescript/bin/tsc', '-p', folder)
}

/** What stands at a place of the document. */
const at = (...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), openApiDocument())
const exampleOf = (...path: readonly string[]): unknown =>
  at('paths', '/v1/payments', ...path, 'content', 'application/json', 'example')

describe('docs/openapi.json in the hands of tools', function () {
  this.timeout(60_000)
  let folder: string
  before(() => {
    // Within the checkout, where generated code finds the packages that it imports.
    folder = mkdtempSync('dist/generated-')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('has nothing that the linter of Redocly recommends against', async () => {
    expect(JSON.parse(await run('generators/lint.mjs', FILE))).to.deep.equal([])
  })

  it('openapi-typescript makes types on which a strict sample compiles', async () => {
    await run(`${TOOLS}/openapi-typescript/bin/cli.js`, FILE, '-o', join(folder, 'types.d.ts'))
    copyFileSync('generators/sample.ts', join(folder, 'sample.ts'))
    await compileStrictly(folder, ['sample.ts'])
  })

  it('hey-api makes a client that compiles, and validators that take what the service takes', async () => {
    const client = join(folder, 'client')
    const plugins = ['@hey-api/typescript', '@hey-api/sdk', 'zod']
    await run(
      `${TOOLS}/@hey-api/openapi-ts/bin/run.js`,
      '-i',
      FILE,
      '-o',
      client,
      '--no-log-file',
      '-s',
      '-p',
      ...plugins
    )
    await compileStrictly(client, ['index.ts', 'zod.gen.ts'])

    const { code } = await transform(readFileSync(join(client, 'zod.gen.ts'), 'utf8'), { loader: 'ts' })
    writeFileSync(join(client, 'validators.mjs'), code)
    const made = (await import(pathToFileURL(join(client, 'validators.mjs')).href)) as Record<string, Validator>
    const [request, payment] = [made['zCreatePaymentRequest'], made['zPayment']]
    const order = exampleOf('post', 'requestBody') as object
    const metadata = { basket: 42, gift: true, note: 'ring twice', voucher: null }
    // A default that the validator put in would count as another body.
    expect(request?.safeParse({ ...order, metadata })).to.deep.equal({ success: true, data: { ...order, metadata } })
    expect(request?.safeParse({ ...order, metadata: { basket: {} } }).success).to.equal(false)
    expect(request?.safeParse({ ...order, metadata: { note: 'x'.repeat(501) } }).success).to.equal(false)
    expect(payment?.safeParse(exampleOf('post', 'responses', '201')).success).to.equal(true)
  })

  it('a mock server answers the true examples, and refuses what breaks the schemas', async () => {
    const mock = spawn(process.execPath, ['generators/mock.mjs', FILE], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const ended = once(mock, 'exit').then(([code]) => Promise.reject(new Error(`The mock server ended: ${code}.`)))
      const [address] = (await Promise.race([once(mock.stdout, 'data'), ended])) as [Buffer]
      const url = `${String(address).trim()}/v1/payments`
      const headers = { Authorization: 'Bearer key', 'Content-Type': 'application/json', 'Idempotency-Key': 'order-1' }
      const post = (body: unknown): Promise<Response> =>
        fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      const [paid, refused, list] = [
        await post(exampleOf('post', 'requestBody')),
        await post({ amount_cents: 0 }),
        await fetch(url, { headers })
      ]
      expect([paid.status, refused.status, list.status]).to.deep.equal([200, 400, 200])
      expect(await paid.json()).to.deep.equal(exampleOf('post', 'responses', '200'))
      expect(await list.json()).to.deep.equal(exampleOf('get', 'responses', '200'))
    } finally {
      mock.kill()
    }
  })
})
