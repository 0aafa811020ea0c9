/**
 * The operator's side of every process, never on a merchant port: is it alive, can it work, what did it do.
 *
 * /healthz answers 200 while the event loop turns. /readyz answers 200 when start-up is done and every check passes,
 * else 503 with the sentences that say what is missing. /metrics is Prometheus text.
 */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { register } from 'prom-client'
import type { Config } from './config.js'
import type { Logger } from './log.js'
import { messageOf } from './message-of.js'
import { publishProcess } from './metrics.js'
import { within } from './within.js'

/** Resolves to undefined when all is well, else to a sentence that says what is wrong; throwing counts as wrong. */
export type Check = () => Promise<string | undefined> | string | undefined

/**
 * How long one check may take (ms): a little more than a command of Redis, whose own sentence says more. All run at the
 * same time, because a scrape asks them too: Prometheus gives it 10 s, and a process whose scrape fails tells nothing.
 */
const CHECK_TIMEOUT_MS = 6_000

export interface OpsServer {
  readonly port: number
  started(): void
  stop(): Promise<void>
}

/** Listens at once; /readyz says no until `started` was called. Rejects when the port is taken. */
export async function startOpsServer(options: {
  name: string
  config: Config
  log: Logger
  checks: ReadonlyMap<string, Check>
  isStopping: () => boolean
  checkTimeoutMs?: number
}): Promise<OpsServer> {
  const { checkTimeoutMs = CHECK_TIMEOUT_MS } = options
  let isStarted = false

  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    if (path === '/healthz') return answer(response, 200, { status: 'ok', process: options.name })
    if (path === '/readyz') return void answerReadiness(response)
    if (path === '/metrics') return void answerMetrics(response)
    return answer(response, 404, { error: 'This server knows /healthz, /readyz and /metrics.' })
  })

  const findProblems = async (): Promise<Record<string, string>> => {
    const problems: Record<string, string> = {}
    if (!isStarted) problems['start'] = 'is still going on'
    if (options.isStopping()) problems['stop'] = 'was asked for'
    const found = [...options.checks].map(
      async ([part, check]) => [part, await problemOf(check, checkTimeoutMs)] as const
    )
    for (const [part, problem] of await Promise.all(found)) if (problem !== undefined) problems[part] = problem
    return problems
  }
  const answerReadiness = async (response: ServerResponse): Promise<void> => {
    const problems = await findProblems()
    const isReady = Object.keys(problems).length === 0
    answer(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', process: options.name, problems })
  }

  publishProcess(register, options.name, async () => Object.keys(await findProblems()).length === 0)
  await listen(server, options.config.opsPort, options.config.opsHost)
  const port = (server.address() as AddressInfo).port
  options.log.info({ host: options.config.opsHost, port }, 'ops server listening')
  return {
    port,
    started: () => {
      isStarted = true
    },
    stop: () => close(server)
  }
}

async function problemOf(check: Check, timeoutMs: number): Promise<string | undefined> {
  try {
    return await within(timeoutMs, Promise.resolve().then(check))
  } catch (error) {
    return messageOf(error)
  }
}

/** Listens, or rejects with the port that is taken. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
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
