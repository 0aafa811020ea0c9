/** Ports of this machine: which are free, and which every listening process gets. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { Config } from '../../runtime/config.js'
import type { PlannedInstance } from './procfile.js'

/** Tries to listen on `port`. Resolves to the port, or to undefined when it is taken. */
export function probePort(port: number, host: string): Promise<number | undefined> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address()
      const found = typeof address === 'object' && address !== null ? address.port : undefined
      server.close(() => resolve(found))
    })
  })
}

/** The ports that this process has assigned. A port looks free until its owner listens. */
const assigned = new Set<number>()

/**
 * Below the ports of outgoing connections (Linux: from 32768). One of those could take the port before its owner listens,
 * or while its owner restarts.
 */
const LOWEST = 20_000
const HIGHEST = 32_000
const TRIES_MAX = 1_000

/**
 * `PORT_SHARE=1/2`: this process and its children choose from the second half of the ports. So programs with different
 * shares never choose the same port.
 */
const [share = 0, shares = 1] = (process.env['PORT_SHARE'] ?? '0/1').split('/').map(Number)

/** A free port that this process did not assign before. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  const size = Math.floor((HIGHEST - LOWEST) / shares)
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = LOWEST + share * size + randomInt(size)
    if (assigned.has(port) || (await probePort(port, host)) === undefined) continue
    assigned.add(port)
    return port
  }
  throw new Error(`No port from ${LOWEST} to ${HIGHEST} is free on ${host}; close programs that listen there.`)
}

/** The variable with the port of a process. Other processes listen on the ops port only. */
export const portVariables: Readonly<Record<string, string>> = {
  api: 'PORT',
  tokens: 'TOKENS_PORT',
  network: 'NETWORK_PORT',
  notifications: 'NOTIFICATIONS_PORT'
}

/** The port of every listening instance, by name (`api.2`). */
export type PortPlan = ReadonlyMap<string, { readonly port: number; readonly host: string }>

/** Instance k of a listening process gets the port of the first one + 10 (k - 1). */
const INSTANCE_STEP = 10

/** Its control routes have no password. */
const SIMULATOR_HOST = '127.0.0.1'

/**
 * A port for every instance that listens. Rejects with one sentence for every port that is taken or used twice, which
 * names the variable to change.
 */
export async function planPorts(
  instances: readonly Pick<PlannedInstance, 'name' | 'instance'>[],
  config: Pick<Config, 'host' | 'port' | 'tokensPort' | 'networkPort' | 'notificationsPort'>
): Promise<PortPlan> {
  const places: Readonly<Record<string, { base: number; host: string }>> = {
    api: { base: config.port, host: config.host },
    tokens: { base: config.tokensPort, host: config.host },
    network: { base: config.networkPort, host: SIMULATOR_HOST },
    notifications: { base: config.notificationsPort, host: config.host }
  }
  const plan = new Map<string, { port: number; host: string }>()
  const problems: string[] = []
  for (const { name, instance } of instances) {
    const place = places[name]
    if (place === undefined) continue
    const { base, host } = place
    const port = base === 0 ? await freePort(host) : base + INSTANCE_STEP * (instance - 1)
    const isFree = port <= 65_535 && (await probePort(port, host)) !== undefined
    const owner = [...plan].find(([, other]) => other.port === port)?.[0]
    const problem = isFree ? owner && `is already that of ${owner}` : 'is taken by another program'
    if (problem) problems.push(`${portVariables[name]}=${base}: port ${port} for ${name}.${instance} ${problem}`)
    plan.set(`${name}.${instance}`, { port, host })
  }
  if (problems.length > 0) {
    throw new Error(
      `Ports are not free; nothing was started.\n${problems.map(line => `  - ${line}`).join('\n')}\n` +
        'Stop the other program, or set the variable to a free port (0 takes any).'
    )
  }
  return plan
}
