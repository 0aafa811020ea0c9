/** Steps about the processes: the first charge, what doctor says, who reads which secrets. */
import { delay } from '../../runtime/delay.js'
import { until } from '../support/conditions.js'
import type { Step } from './step.js'

/** Payments are sent for at least so long after the first one. */
const UNDER_LOAD_MS = 1_500
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
