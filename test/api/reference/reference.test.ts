import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { loadReference } from '../../../api/reference/reference.js'
import { readConfig } from '../../../runtime/config.js'
import { isRecord } from '../../../runtime/json.js'
import { documents, OPENAPI_FILE } from '../../../scripts/docs/openapi/document-files.js'
import { useBrowser } from '../../support/browser.js'
import { SECRET, useApi } from '../running-api.js'

describe('the reference page', () => {
  const browser = useBrowser()
  const api = useApi({ env: { TOKENS_URL: 'http://localhost:4001' } })

  it('is served without a key, and runs nothing that is not its own', async () => {
    const page = await fetch(`${api.url}/docs`)
    expect(page.status).to.equal(200)
    expect(page.headers.get('Content-Type')).to.equal('text/html; charset=utf-8')
    const policy = page.headers.get('Content-Security-Policy') ?? ''
    expect(policy).to.contain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).not.to.match(/unsafe|\*/)
    expect(policy).to.contain("connect-src 'self' http://localhost:4001;").and.to.contain("frame-ancestors 'none'")
    expect(await page.text()).not.to.match(/https?:/)
    const again = await fetch(`${api.url}/docs`, {
      headers: { 'If-None-Match': page.headers.get('ETag') ?? '', 'Cache-Control': 'max-age=0' }
    })
    expect(again.status).to.equal(304)
  })

  it('serves the documents with the addresses of this installation, and links to them', async () => {
    const page = await (await fetch(`${api.url}/docs`)).text()
    for (const [path, { servers: _, ...document }] of documents()) {
      const name = path.replace('docs/', '')
      const { servers, ...served } = JSON.parse(await (await fetch(`${api.url}/${name}`)).text())
      expect(served, name).to.deep.equal(document)
      expect(servers).to.deep.equal([{ url: name.includes('tokens') ? 'http://localhost:4001' : '/' }])
      expect(page).to.contain(`href="${name}"`)
    }
  })

  it('is served in the test environment alone', () => {
    const live = { ...readConfig({ SERVICE_ENV: 'test' }), environment: 'live' } as const
    expect(loadReference(live)).to.equal(null)
    expect(loadReference(readConfig({ SERVICE_ENV: 'test' }))?.files.has('/docs')).to.equal(true)
  })

  it('opens the operation that its address names, sends its request, and names the operation that is opened', async () => {
    const page = await browser.open(`${api.url}/docs#/Service/readCapabilities`)
    await page.waitForSelector('#operations-Service-readCapabilities .responses-table')
    await page.click('.try-out__btn')
    await page.click('.execute')
    await page.waitForSelector('.live-responses-table')
    expect(await page.locator('.live-responses-table').first().innerText()).to.contain('"unauthorized"')
    await page.click('#operations-Test-sendTestWebhookEvent .opblock-summary-control')
    await page.waitForURL('**/docs#/Test/sendTestWebhookEvent')
  })

  it('shows the route of tokens, with the address of tokens', async () => {
    const page = await browser.open(`${api.url}/docs`)
    await page.click('text=Tokens, for the browser')
    await page.waitForSelector('#operations-Tokens-createToken')
    expect(await page.locator('.opblock').count()).to.equal(1)
  })

  it('has the keys of the address that npm start prints, for both documents, and no longer in its address', async () => {
    const keys = { api_key: `svc_test.k_full.${SECRET}`, publishable_key: 'svc_test.kpub' }
    const page = await browser.open(`${api.url}/docs#${new URLSearchParams(keys)}`)
    const authorized = async (): Promise<void> => {
      await page.locator('.scheme-container .authorize.locked').click()
      await page.locator('.modal-ux').getByText('Authorized').waitFor()
      await page.locator('.close-modal').click()
    }
    await authorized()
    expect(page.url()).to.equal(`${api.url}/docs`)
    await page.click('#operations-Service-readCapabilities .opblock-summary-control')
    await page.click('.try-out__btn')
    await page.click('.execute')
    await page.locator('.live-responses-table').getByText('"key_environment"').waitFor()
    await page.click('text=Tokens, for the browser')
    await page.waitForSelector('#operations-Tokens-createToken')
    await authorized()
    expect(page.url()).to.equal(`${api.url}/docs?document=tokens`)
  })

  it('shows every operation on a phone within its width', async () => {
    const page = await browser.open(`${api.url}/docs`, { viewport: { width: 390, height: 844 } })
    await page.waitForSelector('.opblock')
    const paths: unknown = JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')).paths
    const routes = Object.values(isRecord(paths) ? paths : {}).flatMap(route =>
      isRecord(route) ? Object.keys(route) : []
    )
    // And the webhook.
    expect(await page.locator('.opblock').count()).to.equal(routes.length + 1)
    await page.click('#operations-Payments-createPayment .opblock-summary-control')
    await page.waitForSelector('#operations-Payments-createPayment .responses-table')
    const scrollWidth = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(scrollWidth).to.be.at.most(390)
    expect(browser.problems.filter(problem => !problem.includes('401'))).to.deep.equal([])
  })
})
