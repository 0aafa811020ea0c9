/** What can be wrong with an installation: how to break it, and what `operator doctor` must say of it. */
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import type { Redis } from '../../../redis/connection/connections.js'
import { keys } from '../../../redis/keys.js'
import { recordNewKey } from '../../../redis/operator/key-rotation.js'
import { FORMAT } from '../../../redis/stored-fields.js'
import { freePort } from '../../../scripts/start/ports.js'
import { makeRedisUsers } from '../../support/redis-users.js'
import type { ServiceUnderTest } from '../../support/service.js'
import { faultsOfArchive } from './doctor-archive-faults.js'
import type { Breakage, Fault, Place } from './doctor-fault.js'
import { faultsOfWork } from './doctor-work-faults.js'

const faultsOfRedis: readonly Fault[] = [
  {
    name: 'a durable Redis that syncs once a second',
    break: ({ durable }) => setting(durable, 'appendfsync', 'everysec'),
    check: 'durability',
    found: /appendfsync is everysec, must be always/,
    mend: /CONFIG SET/
  },
  {
    name: 'a durable Redis that evicts',
    break: ({ durable }) => setting(durable, 'maxmemory-policy', 'allkeys-lru'),
    check: 'durability',
    found: /maxmemory-policy is allkeys-lru/,
    mend: /CONFIG SET/
  },
  {
    name: 'a memory-only Redis that persists',
    break: ({ memoryOnly }) => setting(memoryOnly, 'save', '3600 1'),
    check: 'memory-only redis',
    found: /must not persist: save is "3600 1"/,
    mend: /set what the sentence names/
  },
  {
    name: 'a memory-only Redis of another installation',
    break: async ({ memoryOnly }) => {
      const before = (await memoryOnly.get(keys.installation())) ?? ''
      await memoryOnly.set(keys.installation(), JSON.stringify([FORMAT, 'other', 'test']))
      return { undo: () => memoryOnly.set(keys.installation(), before) }
    },
    check: 'memory-only redis',
    found: /serves installation other/,
    mend: /correct SECRETS_REDIS_URL/
  },
  {
    name: 'another environment',
    break: () => ({ env: { SERVICE_ENV: 'live' } }),
    check: 'environment',
    found: /holds test data .*SERVICE_ENV says live/,
    mend: /Correct SERVICE_ENV/
  },
  {
    name: 'a durable Redis that does not answer',
    break: async () => ({ env: { REDIS_URL: `redis://127.0.0.1:${await freePort()}` } }),
    check: 'durable redis',
    found: /REDIS_URL .* could not be used/,
    mend: /Start Redis/
  },
  {
    name: 'an authority of Redis that is not trusted',
    break: async () => {
      const { args = [], undo } = await untrustedServer()
      const url = String(args[1]).replace('https:', 'rediss:')
      return { env: { REDIS_URL: url }, undo: () => undo?.() }
    },
    check: 'durable redis',
    found: /self-signed certificate\)\. Name the file of the authority .* in NODE_EXTRA_CA_CERTS/,
    mend: /NODE_EXTRA_CA_CERTS/
  },
  {
    name: 'a Redis user that lacks a command',
    break: ({ durable }) => users(durable, 'payments', '-xadd'),
    check: 'users of REDIS_URL',
    found: /user payments is not allowed: XADD/,
    mend: /Load ops\/redis\/durable\.acl .*ACL LOAD/
  },
  {
    name: 'a Redis user that may flush',
    break: ({ durable }) => users(durable, 'tokens', '+flushall'),
    check: 'users of REDIS_URL',
    found: /user tokens is allowed more than it needs: FLUSHALL/,
    mend: /Load ops\/redis\/durable\.acl/
  },
  {
    name: 'a Redis user that may use every key',
    break: ({ durable }) => users(durable, 'tokens', '~*'),
    check: 'users of REDIS_URL',
    found: /user tokens is allowed more than it needs: .*GET of any key/,
    mend: /Load ops\/redis\/durable\.acl/
  }
]

const faultsOfProcesses: readonly Fault[] = [
  {
    name: 'a process that is not there',
    break: async ({ service }) => {
      const { 'timers.1': _, ...others } = await opsUrls(service)
      return { args: ['--ops', Object.values(others).join(',')] }
    },
    check: 'processes',
    found: /No `timers` answers/,
    mend: /Start `timers`/
  },
  {
    name: 'an ops port that does not answer',
    break: async () => ({ args: ['--ops', `http://127.0.0.1:${await freePort()}`] }),
    check: 'processes',
    found: /does not answer as an ops port \(.*ECONNREFUSED/,
    mend: /its log says why, such as a wrong SERVICE_ENV.* OPS_HOST and OPS_PORT/
  },
  {
    name: 'a scrape target that does not answer',
    break: async ({ dir }) => {
      const file = join(dir, 'prometheus.yml')
      await writeFile(
        file,
        `scrape_configs:\n  - static_configs:\n      - targets:\n          - 127.0.0.1:${await freePort()}\n`
      )
      return { args: ['--targets', file] }
    },
    check: 'processes',
    found: /does not answer as an ops port/,
    mend: /--ops/
  },
  {
    name: 'a process that is not ready',
    break: place => fakeProcess(place, { process: 'api', problems: { durability: 'The Redis may lose.' } }),
    check: 'durability',
    found: /^api at 127\.0\.0\.1:\d+: The Redis may lose/,
    mend: /docs\/OPERATIONS\.md/
  },
  {
    name: 'a process of another installation',
    break: place => fakeProcess(place, { process: 'api', facts: { installation: 'other' } }),
    check: 'installation',
    found: /works on installation other/,
    mend: /Correct REDIS_URL/
  },
  {
    name: 'a process with the vault keys of another installation',
    break: place => fakeProcess(place, { process: 'api', facts: { 'vault key': 'k9' } }),
    check: 'vault keys',
    found: /api at 127.* uses k9, which is no key of this installation/,
    mend: /key file of this installation/
  },
  {
    name: 'a rotation that did not reach the processes',
    break: async ({ durable }) => {
      const before = (await durable.get(keys.keyRecord('webhook'))) ?? ''
      await recordNewKey(durable, 'webhook', 'newer')
      return { undo: () => durable.set(keys.keyRecord('webhook'), before) }
    },
    check: 'webhook keys',
    state: 'warning',
    found: /uses \S+; the newest is newer/,
    mend: /file of the last rotation/
  },
  {
    name: 'an archive whose address it was not given',
    break: place => fakeProcess(place, { process: 'api', facts: { archive: 'PostgreSQL' } }),
    check: 'archive',
    state: 'not checked',
    found: /api at .* has an archive, and ARCHIVE_URL is not set here/,
    mend: /Give ARCHIVE_URL/
  },
  {
    name: 'a process on an old Node',
    break: place =>
      fakeProcess(
        place,
        { process: 'api' },
        'card_payments_build_info{process="api",version="0.1.0",node="v18.20.0"} 1\n'
      ),
    check: 'version of Node',
    found: /api at .* runs on Node v18\.20\.0/,
    mend: /Bring it to Node \^20\.19/
  },
  {
    name: 'two releases side by side',
    break: place =>
      fakeProcess(place, { process: 'api' }, `card_payments_build_info{version="0.0.9",node="${process.version}"} 1\n`),
    check: 'versions',
    state: 'warning',
    found: /0\.0\.9 \(api at 127\.0\.0\.1:\d+\)/,
    mend: /Restart the processes of the older version/
  },
  {
    name: 'credentials that the card network refuses',
    break: place => network(place, { NETWORK_MERCHANT_KEY: 'wrong' }),
    check: 'card network',
    found: /refuses these credentials \(HTTP 401\)/,
    mend: /NETWORK_MERCHANT_KEY/
  },
  {
    name: 'a card network that does not answer',
    break: async place => network(place, { NETWORK_QUERY_URL: `http://127.0.0.1:${await freePort()}` }),
    check: 'card network',
    found: /gave no answer/,
    mend: /Call the network/
  },
  {
    name: 'a certificate that is not trusted',
    break: () => untrustedServer(),
    check: 'certificate of',
    found: /self-signed certificate/,
    mend: /NODE_EXTRA_CA_CERTS/
  }
]

export const faults: readonly Fault[] = [...faultsOfRedis, ...faultsOfWork, ...faultsOfProcesses, ...faultsOfArchive]

/** The settings that let the command ask the simulator, with changes. */
export function network({ service }: Place, changes: NodeJS.ProcessEnv): Breakage {
  const own = {
    SERVICE_ENV: 'test',
    NETWORK_TRANSACTION_URL: service.networkUrl,
    NETWORK_QUERY_URL: service.networkUrl,
    NETWORK_MERCHANT_KEY: 'simulator-merchant-key-0000000000000000A'
  }
  return { env: { ...own, ...changes } }
}

/** Makes the users of the ACL file, and then changes one of them. */
export async function users(durable: Redis, ...change: readonly [user: string, rule: string]): Promise<Breakage> {
  const made = await makeRedisUsers(durable, 'durable')
  await durable.acl('SETUSER', ...change)
  return { undo: () => durable.acl('DELUSER', ...made) }
}

async function setting(redis: Redis, name: string, wrong: string): Promise<Breakage> {
  const [, before = ''] = (await redis.config('GET', name)) as string[]
  await redis.config('SET', name, wrong)
  return { undo: () => redis.config('SET', name, before) }
}

async function opsUrls({ dataDir }: ServiceUnderTest): Promise<Record<string, string>> {
  return JSON.parse(await readFile(join(dataDir, 'ops.json'), 'utf8'))
}

/** One more process, whose ops port answers this. */
async function fakeProcess({ service }: Place, ready: object, metrics = ''): Promise<Breakage> {
  const server = createServer((request, response) =>
    response.end(request.url === '/readyz' ? JSON.stringify({ problems: {}, warnings: {}, ...ready }) : metrics)
  )
  const address = await listening(server)
  const args = ['--ops', [...Object.values(await opsUrls(service)), address].join(',')]
  return { args, undo: () => server.close() }
}

/** A server of https whose certificate no machine trusts. */
async function untrustedServer(): Promise<Breakage> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }])
  const server = createTlsServer({ cert, key })
  const address = await listening(server)
  return { args: ['--https', address.replace('http:', 'https:')], undo: () => server.close() }
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
