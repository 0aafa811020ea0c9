/**
 * Incidents of a running service, and the alert that each fires. The shipped files run in Debian's Prometheus and
 * Alertmanager; all times of rules are sixty times shorter.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { delay } from '../../../runtime/delay.js'
import { createLogger } from '../../../runtime/log.js'
import { freePort } from '../../../scripts/start/ports.js'
import { until } from '../../support/conditions.js'
import { Merchant, registerHook } from '../../support/merchant.js'
import { Monitoring } from '../../support/monitoring.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

interface Place {
  readonly service: ServiceUnderTest
  readonly merchant: Merchant
  readonly durable: Redis
  readonly memoryOnly: Redis
  /** What the node exporter tells: the free part of a disk. */
  disk: { freePart: number }
}

interface Incident {
  readonly what: string
  readonly alert: string
  readonly severity: 'page' | 'ticket'
  /** Resolves to what mends it. */
  begin(place: Place): Promise<() => Promise<unknown> | unknown>
}

async function set(redis: Redis, name: string, value: string): Promise<() => Promise<unknown>> {
  const [, before = ''] = (await redis.config('GET', name)) as string[]
  await redis.config('SET', name, value)
  return () => redis.config('SET', name, before)
}

/** Repeats requests of the merchant until it is stopped. */
function keepPaying({ merchant }: Place): () => Promise<void> {
  const stopping = new AbortController()
  const paying = (async () => {
    for (; !stopping.signal.aborted; await delay(100)) await merchant.create({}).catch(() => undefined)
  })()
  return async () => {
    stopping.abort()
    await paying
  }
}

function suspend(name: string): Incident['begin'] {
  return async ({ service }) => {
    service.kill(name, 'SIGSTOP')
    return () => service.kill(name, 'SIGCONT')
  }
}

const incidents: readonly Incident[] = [
  { what: '`payments` hangs', alert: 'ProcessMissing', severity: 'page', begin: suspend('payments') },
  {
    what: 'the memory-only Redis may evict',
    alert: 'ProcessWarns',
    severity: 'ticket',
    begin: ({ memoryOnly }) => set(memoryOnly, 'maxmemory-policy', 'allkeys-lru')
  },
  {
    what: 'the durable Redis is full: requests are answered 503',
    alert: 'SloBurnsFast',
    severity: 'page',
    async begin(place) {
      const mend = await set(place.durable, 'maxmemory', '1')
      const stop = keepPaying(place)
      return async () => {
        await mend()
        await stop()
      }
    }
  },
  {
    what: 'a disk is almost full',
    alert: 'DiskFull',
    severity: 'page',
    async begin({ disk }) {
      disk.freePart = 0.05
      return () => {
        disk.freePart = 0.5
      }
    }
  }
]

describe('incidents, watched by the shipped Prometheus and Alertmanager', () => {
  let place: Place
  let monitoring: Monitoring
  let exporter: Server
  before(async () => {
    const env = { LOG_LEVEL: 'warn', HEARTBEAT_MS: '300', TAKEOVER_AFTER_MS: '1500' }
    const service = await startService({ env })
    const log = createLogger('test', 'silent')
    const disk = { freePart: 0.5 }
    place = {
      service,
      merchant: new Merchant(() => service),
      durable: await connect(service.redisUrl, 'commands', log),
      memoryOnly: await connect(service.secretsRedisUrl, 'commands', log),
      disk
    }
    const series = (name: string, value: number): string =>
      `# TYPE ${name} gauge\n${name}{device="/dev/vdb",fstype="ext4",mountpoint="/var/lib/redis"} ${value}\n`
    exporter = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/plain; version=0.0.4')
      response.end(`${series('node_filesystem_avail_bytes', disk.freePart)}${series('node_filesystem_size_bytes', 1)}`)
    })
    await new Promise<void>(resolve => exporter.listen(0, '127.0.0.1', resolve))
    const ops = Object.entries(
      JSON.parse(readFileSync(join(service.dataDir, 'ops.json'), 'utf8')) as Record<string, string>
    )
    const targets = ops.filter(([name]) => !name.startsWith('network.')).map(([, url]) => new URL(url).host)
    const disks = [`127.0.0.1:${(exporter.address() as AddressInfo).port}`]
    monitoring = await Monitoring.start({ 'card-payments': targets, 'card-payments-hosts': disks })
  })
  after(async () => {
    await monitoring?.stop()
    exporter?.close()
    await Promise.all([place?.durable, place?.memoryOnly].map(async redis => redis && disconnect(redis)))
    await place?.service.stop()
  })

  it('fire nothing while all is well', async () => {
    let quiet = 0
    // A second of these rules is a minute: a pause of the machine may fire one.
    await until('ten looks in a row find nothing', async () => {
      await place.merchant.create({})
      await delay(300)
      quiet = (await monitoring.firing()).length === 0 ? quiet + 1 : 0
      return quiet === 10
    })
  })

  describe('beside the dead endpoint of a merchant', () => {
    // Before the others, because half an hour of failure has to pass.
    before(async () => {
      await registerHook(place.service, `https://127.0.0.1:${await freePort()}/hook`)
      for (let index = 0; index < 6; index++) await place.merchant.create({})
    })

    for (const { what, alert, severity, begin } of incidents) {
      it(`fire ${alert}: ${what}`, async () => {
        await until(`${alert} is over`, async () => !(await monitoring.firing()).includes(alert))
        const told = severity === 'page' ? monitoring.pages : monitoring.tickets
        const before = told.length
        const mend = await begin(place)
        try {
          await until(`${alert} fires`, async () => (await monitoring.firing()).includes(alert))
          await until(`operators hear of ${alert}`, () => told.slice(before).some(names => names.includes(alert)))
        } finally {
          await mend()
        }
        await place.service.untilReady()
      })
    }

    it('fire WebhookEndpointFails: the endpoint is still dead', async () => {
      await until('operators hear of it', () => monitoring.tickets.flat().includes('WebhookEndpointFails'))
    })
  })
})
