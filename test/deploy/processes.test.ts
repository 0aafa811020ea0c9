/** deploy/ says the same as the code: commands, variables, times, ports. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { describeSettings, readConfig, variablesKeptFrom } from '../../runtime/config.js'
import type { ProcessName } from '../../runtime/setting.js'
import { drainMsOf, STOP_DEADLINE_MS } from '../../runtime/shutdown.js'
import { parseProcfile } from '../../scripts/start/procfile.js'
import { type Environment, type NetworkPolicy, readManifests, readPods, waysToRun } from '../support/ways-to-run.js'

const procfile = parseProcfile(readFileSync('Procfile', 'utf8'))
const names = procfile.map(({ name }) => name as ProcessName).filter(name => name !== 'network')
const settings = describeSettings().flatMap(({ rows }) => rows)
const usesOf = (variable: string): readonly string[] => settings.find(row => row.variable === variable)?.usedBy ?? []
/** Addresses of these hold passwords, and have a default that is right on one machine only. */
const REDIS = ['REDIS_URL', 'SECRETS_REDIS_URL']
/** Node reads it, not the service. */
const OF_NODE = 'NODE_EXTRA_CA_CERTS'
/** What stands in the files of an installation. */
const CONTENTS: Readonly<Record<string, string>> = {
  REDIS_URL_FILE: 'rediss://user:password@redis.example:6379',
  SECRETS_REDIS_URL_FILE: 'rediss://user:password@redis.example:6380',
  ARCHIVE_URL_FILE: 'postgres://user:password@postgres.example/payments',
  NODE_EXTRA_CA_CERTS: 'a certificate',
  NETWORK_MERCHANT_ID_FILE: 'b1d8f2b0-6f0e-4a54-9d3c-0d1f8e5a7c21',
  NETWORK_MERCHANT_KEY_FILE: 'A0B1C2D3E4F5A6B7C8D9E0F1A2B3C4D5E6F7A8B9',
  NOTIFICATIONS_SECRET_FILE: '5f1d0c8e7b3a49265f1d0c8e7b3a4926',
  VAULT_PUBLIC_KEYS_FILE: '{}',
  VAULT_PRIVATE_KEYS_FILE: '{}',
  WEBHOOK_KEYS_FILE: '{}'
}

for (const [way, planOf] of Object.entries(waysToRun)) {
  describe(`deploy/, ${way}`, () => {
    let dir: string
    before(() => {
      dir = mkdtempSync(join(tmpdir(), 'deploy-'))
      for (const [name, content] of Object.entries(CONTENTS)) writeFileSync(join(dir, name), content)
    })
    after(() => rmSync(dir, { recursive: true, force: true }))

    /** As on a machine where all files are there. */
    const installed = (environment: Environment): Environment =>
      Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [name, name in CONTENTS ? join(dir, name) : value])
      )
    const processes = way === 'compose.yaml' ? [...names, 'network' as const] : names

    for (const name of processes) {
      const { command, environment, stopTimeoutMs } = planOf(name)

      it(`runs ${name} as the Procfile does`, () => {
        const line = procfile.find(entry => entry.name === name)?.command ?? ''
        expect(command).to.equal(line.replace('exec ', ''))
      })

      it(`gives ${name} each variable that it needs`, () => {
        expect(() => readConfig(installed(environment), name)).not.to.throw()
        const needed = [
          ...REDIS.filter(variable => usesOf(variable).includes(name)).map(it => `${it}_FILE`),
          'OPS_PORT'
        ]
        expect(Object.keys(environment)).to.include.members(needed)
      })

      it(`gives ${name} no variable that it does not use, and none that repeats a default`, () => {
        const given = Object.entries(environment).filter(([variable]) => variable !== OF_NODE)
        const fallbacks = new Map(settings.map(({ variable, fallback }) => [variable, fallback]))
        const unknown = given.filter(([variable]) => !fallbacks.has(variable.replace(/(?<!KEYS)_FILE$/, '')))
        const unused = given.filter(([variable]) => variablesKeptFrom(name).includes(variable))
        const needless = given.filter(([variable, value]) => fallbacks.get(variable) === value)
        expect([...unknown, ...unused, ...needless]).to.deep.equal([])
      })

      it(`lets ${name} drain and stop before it is killed`, () => {
        const config = { drainDelayMs: Number(environment['DRAIN_DELAY_MS'] ?? 0) }
        expect(stopTimeoutMs).to.be.greaterThan(drainMsOf(name, config) + STOP_DEADLINE_MS)
      })
    }
  })
}

describe('deploy/compose.yaml and deploy/kubernetes', () => {
  const { services } = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }) as {
    services: Readonly<Record<string, { ports?: string[]; healthcheck?: { test: string[] } }>>
  }
  const listening = { api: 'PORT', tokens: 'TOKENS_PORT', notifications: 'NOTIFICATIONS_PORT' }
  const portOf = (variable: string): number => Number(settings.find(row => row.variable === variable)?.fallback)

  it('listen on every address of the container, since its own loopback reaches no other', () => {
    for (const planOf of [waysToRun['compose.yaml'], waysToRun['Kubernetes']]) {
      for (const name of names) {
        const environment = planOf?.(name).environment ?? {}
        const hosts = ['HOST', 'OPS_HOST'].filter(variable => usesOf(variable).includes(name))
        expect(
          hosts.map(variable => environment[variable]),
          name
        ).to.deep.equal(hosts.map(() => '0.0.0.0'))
      }
    }
  })

  it('name the ports on which processes listen', () => {
    for (const [name, variable] of Object.entries(listening)) {
      expect(readPods(name).own.containers[0].ports).to.deep.equal([{ name: 'http', containerPort: portOf(variable) }])
    }
    for (const [name, variable] of Object.entries({ api: 'PORT', tokens: 'TOKENS_PORT' })) {
      const port = portOf(variable)
      expect(services[name]?.ports).to.deep.equal([`127.0.0.1:${port}:${port}`])
    }
  })

  it('ask the ops server whether a process lives and is ready, and drain for longer than that takes to notice', () => {
    const [{ livenessProbe, readinessProbe, ports, env }] = readPods('api').shared.containers
    const opsPort = env?.find(({ name }) => name === 'OPS_PORT')?.value
    expect(ports).to.deep.equal([{ name: 'ops', containerPort: Number(opsPort) }])
    expect(livenessProbe?.httpGet).to.deep.equal({ path: '/healthz', port: 'ops' })
    expect(readinessProbe?.httpGet).to.deep.equal({ path: '/readyz', port: 'ops' })
    expect(services['api']?.healthcheck?.test.at(-1)).to.contain(`:${opsPort}/readyz`)
    const { periodSeconds = 0, failureThreshold = 0, timeoutSeconds = 0 } = readinessProbe ?? {}
    for (const name of Object.keys(listening)) {
      const drainMs = Number(waysToRun['Kubernetes']?.(name).environment['DRAIN_DELAY_MS'])
      expect(drainMs, name).to.be.greaterThan((periodSeconds * failureThreshold + timeoutSeconds) * 1_000)
    }
  })

  it('set no variables of other services: TOKENS_PORT of Kubernetes is not a port number', () => {
    expect(readPods('api').shared.enableServiceLinks).to.equal(false)
  })

  it('let each process reach the servers of its settings, and no others', () => {
    const servers = { REDIS_URL: 6379, SECRETS_REDIS_URL: 6380, ARCHIVE_URL: 5432, NETWORK_TRANSACTION_URL: 443 }
    const policies = readManifests<NetworkPolicy>('network-policies.yaml')
    for (const name of names) {
      const policy = policies.find(({ metadata }) => metadata.name === name)
      const ports = (rules: NetworkPolicy['spec']['egress'] = []): number[] =>
        rules.flatMap(rule => (rule.ports ?? []).map(({ port }) => port))
      const reached = Object.entries(servers).filter(([variable]) => usesOf(variable).includes(name))
      expect(ports(policy?.spec.egress), name).to.deep.equal(reached.map(([, port]) => port))
      const own = Object.entries(listening).find(([process]) => process === name)?.[1]
      expect(ports(policy?.spec.ingress), name).to.deep.equal(own === undefined ? [] : [portOf(own)])
    }
  })

  it('keep a pod of each process during a disruption, and let all listening ones be found', () => {
    for (const name of names) {
      const kinds = readManifests(`${name}.yaml`).map(({ kind }) => kind)
      expect(kinds, name).to.include('PodDisruptionBudget')
      expect(kinds.includes('Service'), name).to.equal(name in listening)
    }
  })
})
