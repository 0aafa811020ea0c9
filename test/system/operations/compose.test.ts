/**
 * deploy/compose.yaml without containers: what compose-setup.sh makes, both Redis with the files that it mounts, each
 * process with the environment of its service. Paths and names of hosts are replaced by those of this machine.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { findOnPath, runToEnd } from '../../../scripts/start/apt-packages.js'
import { bareEnvironment, serviceUrls } from '../../../scripts/start/environment.js'
import { freePort, portVariables } from '../../../scripts/start/ports.js'
import type { ProcessGroup } from '../../../scripts/start/process-group.js'
import { obtainRedis } from '../../../scripts/start/redis-binary.js'
import { Service } from '../../../scripts/start/service.js'
import { until } from '../../support/conditions.js'
import { Merchant } from '../../support/merchant.js'
import { startRedisGroup } from '../../support/redis-servers.js'
import { composeEnvironment } from '../../support/ways-to-run.js'

const OPERATOR = resolve('dist/scripts/operator/operator.js')
const PERMISSIONS = 'payments:read,payments:write,cards:write,webhooks:write'

describe('deploy/compose.yaml', () => {
  const dir = mkdtempSync(join(tmpdir(), 'compose-'))
  const state = join(dir, 'state')
  const groups: ProcessGroup[] = []
  let service: Service | undefined

  after(async () => {
    await service?.stop()
    await Promise.all(groups.map(async group => await group.stop(10_000)))
    rmSync(dir, { recursive: true, force: true })
  })

  /** The files of a service, as on this machine. */
  const environmentOf = (name: string): Record<string, string> => {
    const entries = Object.entries(composeEnvironment(name)).filter(([variable]) => !variable.startsWith('OPS_'))
    return Object.fromEntries(
      entries.map(([variable, value]) => [
        variable,
        value
          .replace('/run/secrets', join(state, name))
          .replace('0.0.0.0', '127.0.0.1')
          .replace(/^\/data$/, dir)
      ])
    )
  }

  async function startServer(kind: 'durable' | 'memory-only'): Promise<void> {
    const port = await freePort()
    const address = kind === 'durable' ? 'redis_url' : 'secrets_redis_url'
    for (const file of readdirSync(state).map(name => join(state, name, address))) {
      if (existsSync(file)) writeFileSync(file, readFileSync(file, 'utf8').replace(/@.*/, `@localhost:${port}`))
    }
    const data = join(dir, kind)
    mkdirSync(data)
    const conf = readFileSync(join(state, kind, `${kind}.conf`), 'utf8')
      .replaceAll('/etc/redis', join(state, kind))
      .replace(/^dir .*$/m, `dir ${data}`)
      .replace(/^bind .*$/m, 'bind 127.0.0.1 -::1')
      .replace(/^tls-port .*$/m, `tls-port ${port}`)
    writeFileSync(join(dir, `${kind}.conf`), conf)
    const binary = await obtainRedis(resolve('.vendor'), () => undefined)
    groups.push(
      await startRedisGroup(binary, [join(dir, `${kind}.conf`)], {
        cwd: data,
        user: undefined,
        onOutput: () => undefined
      })
    )
    await until(`the ${kind} Redis listens`, () => isListening(port))
  }

  const operator = async (line: string): Promise<Record<string, unknown>> =>
    JSON.parse(await runToEnd(process.execPath, [OPERATOR, ...line.split(' '), '--json'], environmentOf('operator')))

  const does = 'charges a card with the files of compose-setup.sh and the environment of each service'
  if (findOnPath('openssl') === undefined) it(`NOT CHECKED, there is no openssl on the PATH: ${does}`, () => undefined)
  else it(does, charges)

  async function charges(): Promise<void> {
    const script = join(dir, 'operator')
    writeFileSync(script, `#!/bin/sh\nexec '${process.execPath}' '${OPERATOR}' "$@"\n`, { mode: 0o755 })
    await runToEnd('sh', ['deploy/compose-setup.sh', state], { OPERATOR: script, HOSTS: 'DNS:localhost' })
    await startServer('durable')
    await startServer('memory-only')
    const url = (file: string): string => readFileSync(join(state, 'operator', file), 'utf8').trim()
    service = new Service({
      root: process.cwd(),
      procfile: readFileSync('Procfile', 'utf8'),
      scale: [],
      env: {
        ...{
          SERVICE_ENV: 'test',
          DATA_DIR: join(dir, 'data'),
          REDIS_URL: url('redis_url'),
          SECRETS_REDIS_URL: 'redis://unused'
        },
        ...{ PORT: '0', TOKENS_PORT: '0', NETWORK_PORT: '0', NOTIFICATIONS_PORT: '0' }
      },
      output: { isColoured: false },
      write: () => undefined,
      prepare: async () => ({ vault: undefined, webhooks: undefined }),
      environment: ({ name, instance }, { ports }, opsPort) => {
        const port = ports.get(`${name}.${instance}`)?.port
        const network = serviceUrls(ports).network_url ?? ''
        const notifications = `http://127.0.0.1:${ports.get('notifications.1')?.port}`
        const own = Object.entries(environmentOf(name)).map(([variable, value]) => [
          variable,
          value.replace('http://network:3002', network).replace('http://notifications:3003', notifications)
        ])
        const listening = port === undefined ? {} : { [portVariables[name] ?? '']: String(port) }
        return { ...bareEnvironment(opsPort), ...Object.fromEntries(own), ...listening }
      }
    })
    const { urls } = await service.start()
    const { merchant_id: merchant } = await operator('merchant create Shop')
    const { key } = await operator(`key create --merchant ${merchant} --permissions ${PERMISSIONS}`)
    const { key: publishable } = await operator(`key create --merchant ${merchant} --publishable`)
    const keys = { apiKey: String(key), publishableKey: String(publishable) }
    const shop = new Merchant(() => ({ baseUrl: String(urls.base_url), tokensUrl: String(urls.tokens_url), ...keys }))
    const { payment } = await shop.create({ amount: 1_000 })
    expect(payment).to.include({ status: 'captured', amount_cents: 1_000 })
  }
})

async function isListening(port: number): Promise<boolean> {
  return await new Promise(done => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => done(true)).once('error', () => done(false))
    socket.once('connect', () => socket.destroy())
  })
}
