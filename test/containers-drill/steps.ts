/** What the drill does, one step after the other; each needs those before it. */
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { delay } from '../../runtime/delay.js'
import { demoCard, demoCustomer } from '../../scripts/start/demo-customer.js'
import type { Engine } from './engine.js'

export interface Place {
  readonly engine: Engine
  readonly log: (text: string) => void
  /** Keys of the merchant, once there is one. */
  merchant: { readonly secret: string; readonly publishable: string } | null
  /** Its payment. */
  payment: string | null
}

interface Step {
  readonly name: string
  readonly does: string
  act(place: Place): Promise<void>
}

interface Container {
  readonly Service: string
  readonly State: string
  readonly Health: string
  readonly ExitCode: number
}

const FILE = '/place/release/deploy/compose.yaml'
const HEALTHY_WITHIN_MS = 180_000
const PROCESSES = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks', 'archive', 'network']
const PERMISSIONS = 'payments:read,payments:write,cards:write,webhooks:write'

export const steps: readonly Step[] = [
  {
    name: 'build-checkout',
    does: 'the image is built from the checkout, over the registry, with an authority that is given to the build',
    act: async ({ engine }) => {
      const secret = ['--secret', 'id=authority,src=/place/authority.pem']
      const args = [
        '--build-arg',
        'VERSION=1.2.3',
        ...secret,
        '--file',
        '/place/checkout/deploy/Dockerfile',
        '--tag',
        'from-checkout'
      ]
      await engine.docker('build', ...args, '/place/checkout')
      const labels = await engine.docker('inspect', '--format', '{{json .Config.Labels}}', 'from-checkout')
      expect(JSON.parse(labels)).to.include({ 'org.opencontainers.image.version': '1.2.3' })
      expect(await engine.docker('run', '--rm', 'from-checkout', 'operator', '--version')).to.match(/^\d+\.\d+\.\d+/)
    }
  },
  {
    name: 'build-release',
    does: 'the same file builds the image from a release, without a network',
    act: async ({ engine }) => {
      await engine.docker(
        'build',
        '--network=none',
        '--file',
        '/place/release/deploy/Dockerfile',
        '--tag',
        'from-release',
        '/place/release'
      )
    }
  },
  {
    name: 'up',
    does: 'compose.yaml starts, all is healthy, the archive too; processes are users without rights on a root that they cannot write',
    act: async place => {
      await compose(place, '--profile', 'simulator', 'up', '--build', '--detach')
      await untilHealthy(place)
      for (const name of PROCESSES) {
        expect((await compose(place, 'exec', name, 'id', '-u')).trim(), name).to.equal('10001')
        const write = compose(place, 'exec', name, 'touch', '/app/file')
        expect(
          await write.then(
            () => 'written',
            () => 'refused'
          ),
          name
        ).to.equal('refused')
      }
    }
  },
  {
    name: 'charge',
    does: 'a card is charged, and a part of it refunded',
    act: async place => {
      const { merchant_id: id } = await operator(place, 'merchant', 'create', 'Shop')
      const { key: secret } = await operator(
        place,
        'key',
        'create',
        '--merchant',
        String(id),
        '--permissions',
        PERMISSIONS
      )
      const { key: publishable } = await operator(place, 'key', 'create', '--merchant', String(id), '--publishable')
      place.merchant = { secret: String(secret), publishable: String(publishable) }
      const { token_id: token } = await post('127.0.0.1:3001/v1/tokens', place.merchant.publishable, demoCard)
      const payment = await post('127.0.0.1:3000/v1/payments', place.merchant.secret, {
        amount_cents: 1_000,
        external_reference: 'containers-drill',
        customer: demoCustomer,
        payment_source: { source_type: 'token', token_id: token }
      })
      expect(payment).to.include({ status: 'captured', amount_cents: 1_000 })
      place.payment = String(payment['id'])
      expect(await refund(place, 400)).to.include({ status: 'partially_refunded', refunded_cents: 400 })
    }
  },
  {
    name: 'restart',
    does: 'after a restart of all containers all is healthy, the payment is there, and its rest is refunded',
    act: async place => {
      await compose(place, 'restart')
      await untilHealthy(place)
      expect(await refund(place, 600)).to.include({ status: 'refunded', refunded_cents: 1_000 })
    }
  },
  {
    name: 'redis-killed',
    does: 'the durable Redis is killed: it is started again, all is healthy, and no payment is lost',
    act: async place => {
      const id = (await compose(place, 'ps', '--quiet', 'durable')).trim()
      process.kill(Number(await place.engine.docker('inspect', '--format', '{{.State.Pid}}', id)), 'SIGKILL')
      await untilHealthy(place)
      const { status } = await operator(place, 'payment', 'show', place.payment ?? '')
      expect(status).to.equal('refunded')
    }
  },
  {
    name: 'down',
    does: 'nothing is left of it',
    act: async place => {
      await compose(place, '--profile', 'simulator', '--profile', 'operator', 'down', '--volumes')
      expect(await place.engine.docker('ps', '--all', '--quiet')).to.equal('')
      expect(
        await place.engine.docker('volume', 'ls', '--quiet', '--filter', 'label=com.docker.compose.project')
      ).to.equal('')
    }
  }
]

async function compose({ engine }: Place, ...args: string[]): Promise<string> {
  return await engine.docker('compose', '--file', FILE, '--progress=plain', ...args)
}

/** Waits for the health checks; both Redis have none, `setup` ends. */
async function untilHealthy(place: Place): Promise<void> {
  for (const untilMs = Date.now() + HEALTHY_WITHIN_MS; ; await delay(1_000)) {
    const lines = (await compose(place, 'ps', '--all', '--format', 'json')).trim().split('\n')
    const containers = lines.map((line): Container => JSON.parse(line))
    const bad = containers.filter(it => !isFine(it)).map(it => `${it.Service}: ${it.State} ${it.Health}`)
    const seen = new Set(containers.map(({ Service }) => Service))
    bad.push(...[...PROCESSES, 'postgres', 'durable', 'memory-only'].filter(name => !seen.has(name)))
    if (bad.length === 0) return
    if (Date.now() > untilMs) throw new Error(`Not healthy: ${bad.join(', ')}`)
  }
}

function isFine({ Service, State, Health, ExitCode }: Container): boolean {
  if (Service === 'setup') return State === 'exited' && ExitCode === 0
  const isChecked = Service === 'postgres' || PROCESSES.includes(Service)
  return State === 'running' && (Health === 'healthy' || !isChecked)
}

async function operator(place: Place, ...args: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await compose(place, 'run', '--rm', '--no-TTY', 'operator', ...args, '--json'))
}

async function refund({ merchant, payment }: Place, cents: number): Promise<Record<string, unknown>> {
  return await post(`127.0.0.1:3000/v1/payments/${payment}/cancel`, merchant?.secret ?? '', { amount_cents: cents })
}

async function post(url: string, key: string, body: object): Promise<Record<string, unknown>> {
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID()
  }
  const answer = await fetch(`http://${url}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return Object(await answer.json())
}
