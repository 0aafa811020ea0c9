/** HAProxy with the configuration of deploy/haproxy.cfg in front of a running service. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { makeLoopbackTls } from '../../scripts/start/loopback-tls.js'
import { freePort } from '../../scripts/start/ports.js'
import { obtainProgram } from '../runner/debian-program.js'
import { until } from './conditions.js'
import type { ServiceUnderTest } from './service.js'

export interface ProxyAnswer {
  /** 0: there was no answer. */
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

interface Parts {
  readonly child: ChildProcess
  readonly dir: string
  readonly servers: readonly CheckedServer[]
  readonly agent: Agent
}

export class Haproxy {
  /** Ports of the two frontends. */
  readonly port: number
  readonly networkPort: number
  readonly #parts: Parts
  #said = ''

  private constructor(parts: Parts, [port, networkPort]: readonly [number, number]) {
    this.#parts = parts
    this.port = port
    this.networkPort = networkPort
    parts.child.stderr?.setEncoding('utf8').on('data', chunk => {
      this.#said += chunk
    })
  }

  /** `allowed`: the addresses of the card network. Resolves when each instance has answered. */
  static async start(service: ServiceUnderTest, allowed = '127.0.0.1'): Promise<Haproxy> {
    const { file, env } = await obtainProgram('haproxy', '.vendor', line => process.stderr.write(`${line}\n`))
    const dir = mkdtempSync(join(tmpdir(), 'haproxy-'))
    mkdirSync(join(dir, 'certs'))
    const { ca, cert, key } = await makeLoopbackTls()
    writeFileSync(join(dir, 'certs/service.pem'), `${cert}\n${key}\n`, { mode: 0o600 })
    const ports = [await freePort(), await freePort()] as const
    const configuration = join(dir, 'haproxy.cfg')
    const servers = await checkedServers(service)
    writeFileSync(configuration, fittedTo(servers, { dir, ports, allowed }))
    const child = spawn(file, ['-db', '-f', configuration], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe']
    })
    const proxy = new Haproxy({ child, dir, servers, agent: new Agent({ ca, keepAlive: true }) }, ports)
    await until('HAProxy listens', async () => {
      if (child.exitCode !== null) throw new Error(`HAProxy does not take its configuration.\n${proxy.#said}`)
      return (await proxy.send('/v1/capabilities')).status !== 0
    })
    return proxy
  }

  /** Whether it sends requests to this instance, such as `api-1`, by what it has said last about it. */
  uses(server: string): boolean {
    const states = [...this.#said.matchAll(new RegExp(`Server \\w+/${server} is (UP|DOWN)`, 'g'))]
    return states.at(-1)?.[1] !== 'DOWN'
  }

  /** Sends one request and repeats it never. `localhost` is `api`, 127.0.0.1 is `tokens`. */
  send(path: string, options: RequestOptions = {}, body = ''): Promise<ProxyAnswer> {
    return new Promise(resolve => {
      const sent = request(
        { host: 'localhost', port: this.port, path, agent: this.#parts.agent, ...options },
        answer => {
          text(answer).then(
            words => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: words }),
            () => resolve({ status: 0, headers: {}, body: '' })
          )
        }
      )
      sent.once('error', error => resolve({ status: 0, headers: {}, body: error.message }))
      sent.end(body)
    })
  }

  /** What a TLS 1.2 client with these ciphers gets; null: no connection. */
  handshake(ciphers: string): Promise<{ readonly hasTicket: boolean } | null> {
    const { ca } = this.#parts.agent.options
    return new Promise(resolve => {
      const socket = connect({ host: 'localhost', port: this.port, ca, ciphers, maxVersion: 'TLSv1.2' })
      socket.once('error', () => resolve(null))
      socket.once('secureConnect', () => {
        resolve({ hasTicket: socket.getTLSTicket() !== undefined })
        socket.destroy()
      })
    })
  }

  async stop(): Promise<void> {
    const { child, dir, servers, agent } = this.#parts
    agent.destroy()
    for (const { checks } of servers) checks.close().closeAllConnections()
    if (child.exitCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(dir, { recursive: true, force: true })
  }
}

interface Place {
  readonly dir: string
  readonly ports: readonly [number, number]
  readonly allowed: string
}

/** The shipped file with the names, addresses and ports of a test, and without its user, its system log and its size. */
function fittedTo(servers: readonly CheckedServer[], { dir, ports, allowed }: Place): string {
  const fitted = readFileSync('deploy/haproxy.cfg', 'utf8')
    .replace(/^ +(user|group|log|maxconn) .*\n/gm, '')
    .replaceAll('/etc/haproxy/certs/', join(dir, 'certs/'))
    .replace('bind :443 ', `bind 127.0.0.1:${ports[0]} `)
    .replace('bind :8443 ', `bind 127.0.0.1:${ports[1]} `)
    .replace('api.change-me.example', 'localhost')
    .replace('tokens.change-me.example', '127.0.0.1')
    .replace('192.0.2.0/24', allowed)
  return fitted.replace(/^ +server (\S+) .*\n/gm, (_, name) => {
    const server = servers.find(each => each.name === name)
    return server === undefined ? '' : `  server ${name} ${server.host} check port ${server.checkPort}\n`
  })
}

interface CheckedServer {
  /** Such as `api-1`. */
  readonly name: string
  readonly host: string
  readonly checkPort: number
  readonly checks: Server
}

/** Each instance that HAProxy may use. Under `npm start` its ops port changes with a restart: checks pass through here. */
function checkedServers(service: ServiceUnderTest): Promise<CheckedServer[]> {
  const instances = ['api', 'tokens', 'notifications'].flatMap(name =>
    service.addresses(name).map((address, index) => ({ name, number: index + 1, host: new URL(address).host }))
  )
  return Promise.all(
    instances.map(async ({ name, number, host }) => {
      const checks = createServer((_, response) => {
        const answered = service.ops(`${name}.${number}`, '/readyz').then(({ status }) => status)
        void answered.catch(() => 503).then(status => response.writeHead(status).end())
      }).listen(0, '127.0.0.1')
      await once(checks, 'listening')
      return { name: `${name}-${number}`, host, checkPort: (checks.address() as AddressInfo).port, checks }
    })
  )
}
