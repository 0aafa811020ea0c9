import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { keyFilesOf } from '../../../runtime/config.js'
import { readLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { ensureKeyFiles, keyFilesIn, webhookKeyFileIn } from '../../../vault/key-files.js'
import { until } from '../../support/conditions.js'
import { asOperator, Merchant, registerHook } from '../../support/merchant.js'
import { isSignedWith, type Received, startReceiver } from '../../support/receiver.js'
import { useService } from '../../support/service.js'
import { SERVICE_SETTINGS } from '../../support/webhooks.js'

const processes = [
  ['api', 'dist/api/api.js'],
  ['tokens', 'dist/api/tokens.js'],
  ['payments', 'dist/workers/payments.js'],
  ['webhooks', 'dist/workers/webhooks.js']
] as const

describe('key files of a running service', function () {
  this.timeout(30_000)
  const service = useService({ env: SERVICE_SETTINGS })
  const merchant = new Merchant(service)
  let dir = ''
  let theirs = ''
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'other-installation-'))
    theirs = join(dir, 'theirs')
    ensureKeyFiles(keyFilesIn(theirs))
    ensureKeyFiles(webhookKeyFileIn(theirs))
    mkdirSync(join(dir, 'own'))
  })
  after(() => rmSync(dir, { recursive: true }))

  const problemsOf = async (name: string): Promise<Record<string, string>> => {
    const { text } = await service().ops(`${name}.1`, '/readyz')
    return (JSON.parse(text) as { problems: Record<string, string> }).problems
  }
  const isUp = (): Promise<boolean> =>
    fetch(`${service().baseUrl}/v1/capabilities`).then(
      ({ status }) => status === 401,
      () => false
    )
  const copyFiles = (from: string, to: string): void => {
    for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name))
  }

  for (const [name, entry] of processes) {
    it(`${name} does not start with the files of another installation`, async () => {
      const files = {
        VAULT_PUBLIC_KEYS_FILE: keyFilesIn(theirs).publicFile,
        VAULT_PRIVATE_KEYS_FILE: keyFilesIn(theirs).privateFile,
        WEBHOOK_KEYS_FILE: webhookKeyFileIn(theirs).privateFile
      }
      const child = spawn(process.execPath, [entry], {
        timeout: 20_000,
        killSignal: 'SIGKILL',
        env: {
          PATH: process.env['PATH'],
          SERVICE_ENV: 'test',
          REDIS_URL: service().redisUrl,
          SECRETS_REDIS_URL: service().secretsRedisUrl,
          DATA_DIR: service().dataDir,
          ...Object.fromEntries(Object.entries(files).filter(([variable]) => keyFilesOf(name).includes(variable))),
          ...{ PORT: '0', TOKENS_PORT: '0', OPS_PORT: '0' }
        }
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (said += String(text)))
      const [code] = (await once(child, 'close')) as [number]
      expect(code, said).to.equal(1)
      expect(said).to.contain('belongs to another installation')
    })
  }

  it('are a problem in /readyz when they are exchanged for those of another installation; payments go on', async () => {
    const vault = join(service().dataDir, 'vault')
    const own = join(dir, 'own')
    copyFiles(vault, own)
    copyFiles(theirs, vault)
    try {
      for (const [name] of processes) {
        expect(Object.values(await problemsOf(name)).join(), name).to.contain('belongs to another installation')
      }
      expect((await merchant.create()).payment.status).to.equal('captured')
    } finally {
      copyFiles(own, vault)
    }
    for (const [name] of processes) expect(await problemsOf(name), name).to.deep.equal({})
  })

  it('may be lost to api without an end of its work: registrations are answered 503, and it warns', async () => {
    const file = join(service().dataDir, 'vault', 'webhook-keys.json')
    const kept = readFileSync(file)
    rmSync(file)
    try {
      service().kill('api', 'SIGTERM')
      await until('api is gone', async () => !(await isUp()))
      await until('api is up without the file', isUp)
      expect((await merchant.create()).payment.status).to.equal('captured')
      const body = JSON.stringify({ url: 'https://shop.example/hook' })
      const headers = { Authorization: `Bearer ${service().apiKey}`, 'Content-Type': 'application/json' }
      const answer = await fetch(`${service().baseUrl}/v1/webhook-endpoint`, { method: 'PUT', headers, body })
      expect(answer.status).to.equal(503)
      const { status, text } = await service().ops('api.1', '/readyz')
      expect(status).to.equal(200)
      expect(JSON.parse(text).warnings['webhook keys']).to.match(/webhook-keys\.json.* Restore the file, and restart/)
    } finally {
      writeFileSync(file, kept, { mode: 0o600 })
      service().kill('api', 'SIGTERM')
      await until('api is gone', async () => !(await isUp()))
      await service().untilReady()
    }
  })

  it('follow a rotation of the webhook keys without a restart: old secrets stay, new ones sign', async () => {
    const receiver = await startReceiver(undefined, readLoopbackTls(service().dataDir))
    const pids = [...service().pids('api'), ...service().pids('webhooks')]
    try {
      const before = await registerHook(service(), receiver.url)
      expect((await asOperator(service(), 'webhook-keys', 'rotate')).code).to.equal(0)
      const eventOfPayment = async (): Promise<Received> => {
        const { id } = (await merchant.create()).payment
        return await until('its event', () => receiver.received.find(({ event }) => event['payment_id'] === id))
      }
      expect(isSignedWith(before, await eventOfPayment())).to.equal(true)
      expect(await registerHook(service(), receiver.url)).to.equal(before)

      const after = await registerHook(service(), `${receiver.url}&new`)
      // `webhooks` remembers an endpoint for a moment.
      await until('the new secret signs', async () => isSignedWith(after, await eventOfPayment()))
      expect([...service().pids('api'), ...service().pids('webhooks')]).to.deep.equal(pids)
    } finally {
      await receiver.stop()
    }
  })
})
