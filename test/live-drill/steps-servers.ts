/** Steps about the servers: Redis, the card network, the processes behind a balancer. */
import { delay } from '../../runtime/delay.js'
import { messageOf } from '../../runtime/message-of.js'
import { until } from '../support/conditions.js'
import type { Installation } from './installed-service.js'
import type { ShippedRedis } from './shipped-redis.js'
import type { Seen, Step } from './step.js'

/** Payments are sent for at least so long around what a step does. */
const UNDER_LOAD_MS = 1_500
/** For the payments that are made at once, before the restart. */
const FILL_PER_SECOND = 100
/** Less than the gap before the second attempt, so that events arrive soon after. */
const ENDPOINT_DEAD_MS = 3_000
const DOCTOR_TRIES = 5

export const firstCharge: Step = {
  name: 'first-charge',
  does: 'merchant, keys and webhook made by the operator and the merchant, payments sent',
  expects: 'payments are charged',
  async run({ load }) {
    const client = load.newClient()
    client.begin('first')
    await until('the first payment is answered', () => client.records[0]?.status != null)
    await delay(UNDER_LOAD_MS)
    const [create] = client.records
    return {
      // 200: a try before was answered with 503 or 202, as a machine that is busy does.
      isOk: [200, 201, 422].includes(create?.status ?? 0),
      seen: `the first one was answered with ${create?.status} after ${Math.round(create?.outageMs ?? 0)} ms`
    }
  }
}

export const ownUsers: Step = {
  name: 'own-users',
  does: 'each process under a unix user of its own',
  expects: 'each reads its own secrets and no others',
  isQuiet: true,
  async run({ installation: { users, settings } }) {
    if (users.reason !== undefined) return { skipped: users.reason }
    const wrong = settings.wrongReaders()
    return { isOk: wrong.length === 0, seen: wrong.join('; ') || 'each reads its own' }
  }
}

export const doctor: Step = {
  name: 'doctor',
  does: '`operator doctor` with the ops addresses, the memory-only Redis and the card network',
  expects: 'no problem, no warning but of an old Redis or Node, and nothing that was not checked',
  isQuiet: true,
  async run({ installation }) {
    const { settings } = installation
    const network = Object.entries(settings.of('payments')).filter(([name]) => name.startsWith('NETWORK_'))
    const urls = [...(await installation.opsUrls()).values()].join(',')
    const logins = await installation.loginsOf('doctor')
    const ask = async (): Promise<{ checks: number; bad: string[] }> => {
      const answer = await installation.operator(`doctor --ops ${urls} --logins ${logins}`, Object.fromEntries(network))
      const findings = answer['findings'] as { check: string; state: string; found: string }[]
      // Those of this machine may be old ones.
      const own = findings.filter(({ check }) => !/^(version of (SECRETS_)?REDIS_URL|support of Node$)/.test(check))
      const bad = own.filter(({ state }) => state !== 'ok').map(({ check, found }) => `${check}: ${found}`)
      return { checks: findings.length, bad }
    }
    let last = await ask()
    // A pause of the machine is a finding, too, and is over when it is asked again.
    for (let tries = 1; last.bad.length > 0 && tries < DOCTOR_TRIES; tries++) last = await ask()
    return { isOk: last.bad.length === 0, seen: last.bad.join('; ') || `${last.checks} checks, all well` }
  }
}

export const durableRestart: Step = {
  name: 'durable-restart',
  does: 'the durable Redis stopped by SIGTERM and started: under load, then at rest; a login without a password',
  expects: 'the same number of keys as before; no way in without a password',
  async run({ installation: { durable }, load, payments }) {
    await restart(durable)
    await delay(UNDER_LOAD_MS)
    if (payments > 0) await load.fill(payments, FILL_PER_SECOND)
    await load.audit()
    return await keptKeys(durable, () => restart(durable))
  }
}

export const deadEndpoint: Step = {
  name: 'dead-endpoint',
  does: "the merchant's webhook endpoint answers 500, then 204, under load",
  expects: 'events wait, and arrive afterwards; Redis denies no process anything',
  async run({ installation, receiver }) {
    const { durable, memoryOnly } = installation
    receiver.fail()
    await delay(ENDPOINT_DEAD_MS)
    const failingS = await until('the endpoint fails', async () => {
      const seconds = await metricOf(installation, 'webhooks.1', 'card_payments_webhook_failing_seconds')
      return seconds > 0 && seconds
    })
    receiver.behave()
    await delay(UNDER_LOAD_MS)
    const denied = await Promise.all([durable, memoryOnly].map(server => server.ask('ACL', 'LOG')))
    const users = new Set(denied.flatMap(text => [...text.matchAll(/username\W+(\w+)/g)].map(([, user]) => user)))
    return {
      isOk: users.size === 0,
      seen: `the endpoint failed for ${failingS} s; denied users: ${[...users].join(', ') || 'none'}`
    }
  }
}

async function metricOf(installation: Installation, instance: string, name: string): Promise<number> {
  const url = (await installation.opsUrls()).get(instance)
  const text = await (await fetch(`${url}/metrics`)).text()
  const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? []
  return Number(value)
}

async function restart(redis: ShippedRedis): Promise<void> {
  await redis.stop()
  await redis.start()
}

/** The number of keys once it has stayed the same for a while: a list that becomes empty is a key less. */
async function restingKeyCount(redis: ShippedRedis): Promise<number> {
  let count = await redis.keyCount()
  for (let same = 0, tries = 0; same < 3 && tries < 20; tries++) {
    await delay(1_000)
    const next = await redis.keyCount()
    same = next === count ? same + 1 : 0
    count = next
  }
  return count
}

async function keptKeys(redis: ShippedRedis, action: () => Promise<void>): Promise<Seen> {
  const before = await restingKeyCount(redis)
  await action()
  const after = await redis.keyCount()
  const anonymous = await redis.askAs(undefined, 'DBSIZE').catch(messageOf)
  return {
    isOk: before === after && anonymous.includes('NOAUTH'),
    seen: `${before} keys before, ${after} after; without a password ${wordOf(anonymous)}`
  }
}

/** Redis's own word for a refusal, in what redis-cli prints. */
function wordOf(answer: string): string {
  return /NOAUTH|WRONGPASS|NOPERM/.exec(answer)?.[0] ?? answer
}
