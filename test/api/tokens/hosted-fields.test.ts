import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Router from '@koa/router'
import { expect } from 'chai'
import { createJsonApp } from '../../../api/http/api-app.js'
import type { RequestState } from '../../../api/http/context.js'
import { type HttpServer, serve } from '../../../api/http/http-server.js'
import { addFieldsRoutes, loadHostedFields } from '../../../api/tokens/hosted-fields.js'
import { createLogger } from '../../../runtime/log.js'

const EARLIER = 'window.Service={}'
const EARLIER_VERSION = createHash('sha256').update(EARLIER).digest('hex').slice(0, 32)

describe('files of the hosted fields', () => {
  let releasesDir = ''
  let server: HttpServer
  let url = ''

  before(async () => {
    releasesDir = mkdtempSync(join(tmpdir(), 'fields-'))
    writeFileSync(join(releasesDir, `${EARLIER_VERSION}.js`), EARLIER)
    const log = createLogger('test', 'silent')
    const router = new Router<RequestState>()
    addFieldsRoutes(router, loadHostedFields(releasesDir))
    server = await serve(createJsonApp(log, router), { host: '127.0.0.1', port: 0, log })
    url = `http://127.0.0.1:${server.port}`
  })
  after(async () => {
    await server.stop()
    rmSync(releasesDir, { recursive: true })
  })

  it('are published with a hash that a browser can check', async () => {
    const { path, integrity, version } = (await (await fetch(`${url}/v1/fields.json`)).json()) as Record<string, string>
    const pinned = await fetch(`${url}${path}`)
    const source = await pinned.text()
    expect(`sha384-${createHash('sha384').update(source).digest('base64')}`).to.equal(integrity)
    expect(path).to.contain(version)
    expect(pinned.headers.get('Cache-Control')).to.equal('public, max-age=31536000, immutable')
    expect(pinned.headers.get('Cross-Origin-Resource-Policy')).to.equal('cross-origin')
    expect(await (await fetch(`${url}/v1/fields.js`)).text()).to.equal(source)
  })

  it('stay at the address that a merchant has pinned', async () => {
    const earlier = await fetch(`${url}/v1/fields/${EARLIER_VERSION}/fields.js`)
    expect(await earlier.text()).to.equal(EARLIER)
    expect((await fetch(`${url}/v1/fields/0123456789abcdef0123456789abcdef/fields.js`)).status).to.equal(404)
  })

  it('of earlier releases are refused at the start when they were changed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fields-'))
    writeFileSync(join(folder, `${EARLIER_VERSION}.js`), `${EARLIER};steal()`)
    expect(() => loadHostedFields(folder)).to.throw(EARLIER_VERSION)
    rmSync(folder, { recursive: true })
  })

  it('allow the frame its own script and style by hash, its own origin, and nothing else', async () => {
    const response = await fetch(`${url}/v1/fields/frame`)
    const html = await response.text()
    const policy = directives(response.headers.get('Content-Security-Policy') ?? '')
    expect(policy['default-src']).to.equal("'none'")
    expect(policy['connect-src']).to.equal("'self'")
    expect(policy['frame-ancestors']).to.equal('*')
    expect(response.headers.get('X-Frame-Options')).to.equal(null)
    expect(policy['script-src']).to.equal(hashOf(html, 'script'))
    expect(policy['style-src']).to.equal(hashOf(html, 'style'))
    expect(Object.values(policy).join(' ')).not.to.match(/unsafe|https?:|data:/)
  })

  it('load nothing from another origin', async () => {
    const html = await (await fetch(`${url}/v1/fields/frame`)).text()
    expect(html).not.to.match(/(src|href|action)=|url\(|@import|https?:\/\//)
    expect(await (await fetch(`${url}/v1/fields.js`)).text()).not.to.match(/https?:\/\//)
  })

  it('are not sent again to a browser that has them', async () => {
    const first = await fetch(`${url}/v1/fields/frame`)
    const again = await fetch(`${url}/v1/fields/frame`, {
      headers: { 'If-None-Match': first.headers.get('ETag') ?? '', 'Cache-Control': 'max-age=0' }
    })
    expect(again.status).to.equal(304)
  })
})

function directives(policy: string): Record<string, string> {
  return Object.fromEntries(
    policy.split('; ').map(directive => {
      const space = directive.indexOf(' ')
      return [directive.slice(0, space), directive.slice(space + 1)]
    })
  )
}

function hashOf(html: string, element: string): string {
  const [, content = ''] = new RegExp(`<${element}>(.*)</${element}>`, 's').exec(html) ?? []
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
}
