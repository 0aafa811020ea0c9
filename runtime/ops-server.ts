/**
 * The ops server of every process, on a port of its own: liveness, readiness, metrics.
 *
 * /healthz answers 200 while the event loop runs, and 503 once the process can't recover and stops.
 * /readyz answers `problems` and `warnings`, a sentence for each part: 503 with a problem (the process can't work), 200 with
 * warnings alone (it works, and an operator must act). `facts` are its installation and the ids of its current keys, which
 * `operator doctor` compares.
 * /metrics is Prometheus text. A problem or warning that begins or ends is logged once.
 */
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { register } from 'prom-client'
import type { Config } from './config.js'
import { type Conditions, type Health, healthOf, logChanges } from './health.js'
import type { Logger } from './log.js'
import { publishProcess } from './metrics.js'
import { version } from './version.js'

/** How often health is checked without a probe or scrape, so that changes are logged (ms). */
const CHECK_EVERY_MS = 30_000

export interface OpsServer {
  readonly port: number
  started(): void
  stop(): Promise<void>
}

/** Listens at once; /readyz answers 503 until `started` was called. Rejects when the port is taken. */
export async function startOpsServer(options: {
  name: string
  config: Config
  log: Logger
  conditions: Conditions
  facts?: ReadonlyMap<string, () => string>
  isStopping: () => boolean
  /** Why the process can't recover; undefined while it may. */
  unrecoverable?: () => string | undefined
  checkTimeoutMs?: number
}): Promise<OpsServer> {
  const { name, config, log, conditions, facts = new Map(), isStopping, unrecoverable, checkTimeoutMs } = options
  let isStarted = false
  const logHealth = logChanges(log)

  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    if (path === '/healthz') return answerLiveness(response)
    if (path === '/readyz') return void answerReadiness(response)
    if (path === '/metrics') return void answerMetrics(response)
    return answer(response, 404, { error: 'This server knows /healthz, /readyz and /metrics.' })
  })

  const check = async (): Promise<Health> => {
    const { problems, warnings } = await healthOf(conditions, checkTimeoutMs)
    if (isStarted && !isStopping()) logHealth({ problems, warnings })
    if (!isStarted) problems['start'] = 'is still going on; after 10 s read in its log what it waits for'
    if (isStopping()) problems['stop'] = 'was asked for'
    return { problems, warnings }
  }
  const answerLiveness = (response: ServerResponse): void => {
    const reason = unrecoverable?.()
    if (reason === undefined) answer(response, 200, { status: 'ok', process: name, version })
    else answer(response, 503, { status: 'cannot recover', process: name, version, reason })
  }
  const answerReadiness = async (response: ServerResponse): Promise<void> => {
    const health = await check()
    const isReady = Object.keys(health.problems).length === 0
    const status = isReady ? 'ready' : 'not ready'
    const values = Object.fromEntries([...facts].map(([fact, read]) => [fact, read()]))
    answer(response, isReady ? 200 : 503, { status, process: name, ...health, facts: values })
  }

  publishProcess(register, name, conditions, check)
  const port = await listen(server, config.opsPort, config.opsHost, { port: 'OPS_PORT', host: 'OPS_HOST' })
  log.info({ host: config.opsHost, port }, 'ops server listening')
  const checking = setInterval(() => void check(), CHECK_EVERY_MS)
  return {
    port,
    started: () => {
      isStarted = true
      void check()
    },
    stop: () => {
      clearInterval(checking)
      return close(server)
    }
  }
}

/**
 * Listens, and resolves to the port: 0 takes a free one. Rejects with the reason. `variables`: what the reason calls port and host.
 */
export async function listen(
  server: Server,
  port: number,
  host: string,
  variables = { port: 'the port', host: 'the host' }
): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const advice =
      error.code === 'EADDRINUSE'
        ? `Another process has this port: end it, or set ${variables.port} to another one`
        : error.code === 'EACCES'
          ? `This user may not open it: set ${variables.port} to one of 1024 or more`
          : `Set ${variables.host} to an address of this machine, IPv6 without brackets`
    throw new Error(`Can't listen on ${host}, port ${port} (${error.code}). ${advice}.`)
  })
  return (server.address() as AddressInfo).port
}

/** Stops taking connections, lets running requests end, closes idle ones. Safe to call twice. */
export function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}

async function answerMetrics(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': register.contentType })
  response.end(await register.metrics())
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(`${JSON.stringify(body)}\n`)
}
