/** Ports of this machine: which are free, and which every listening process gets. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

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

/** Instance k of a listening process gets the port of the first one + 10 (k - 1). */
const INSTANCE_STEP = 10

/** One listening process that will be started. */
export interface PortRequest {
  readonly process: string
  /** 1 is the first. */
  readonly instance: number
  readonly base: number
  readonly host: string
}

/**
 * The port of each request, in order. Rejects with one sentence for every port that is taken or used twice, which names
 * the variable to change.
 */
export async function assignPorts(requests: readonly PortRequest[]): Promise<number[]> {
  const problems: string[] = []
  const owners = new Map<number, string>()
  const ports: number[] = []
  for (const { process, instance, base, host } of requests) {
    const name = `${process}.${instance}`
    const variable = `${portVariables[process]}=${base}`
    const wanted = base === 0 ? await freePort(host) : base + INSTANCE_STEP * (instance - 1)
    const port = wanted > 65_535 ? undefined : await probePort(wanted, host)
    const owner = owners.get(port ?? wanted)
    if (port === undefined) problems.push(`${variable}: port ${wanted} for ${name} is taken by another program`)
    else if (owner !== undefined) problems.push(`${variable}: port ${wanted} for ${name} is already that of ${owner}`)
    owners.set(port ?? wanted, name)
    ports.push(port ?? 0)
  }
  if (problems.length > 0) {
    throw new Error(
      `Ports are not free; nothing was started.\n${problems.map(line => `  - ${line}`).join('\n')}\n` +
        'Stop the other program, or set the variable to a free port (0 takes any).'
    )
  }
  return ports
}
