import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { readConfig } from '../../../runtime/config.js'
import { freePort, planPorts } from '../../../scripts/start/ports.js'
import { listenHere, toolPorts } from '../../../scripts/start/tool-ports.js'

const host = '127.0.0.1'
const config = { host, port: 0, tokensPort: 0, networkPort: 0, notificationsPort: 0 }
const twoApis = [1, 2].map(instance => ({ name: 'api', instance }))

describe('ports', () => {
  let neighbour: Server | undefined
  afterEach(() => neighbour?.close())

  it('gives instance k the base port + 10 (k - 1)', async () => {
    // Another program may have the second port of a free one.
    let base = 0
    let plan: Awaited<ReturnType<typeof planPorts>> | undefined
    for (let time = 0; time < 5 && plan === undefined; time++) {
      base = await freePort()
      plan = await planPorts(twoApis, { ...config, port: base }).catch(() => undefined)
    }
    expect([...(plan ?? [])]).to.deep.equal([
      ['api.1', { port: base, host }],
      ['api.2', { port: base + 10, host }]
    ])
  })

  it('listens on HOST, but for the simulator, whose control routes have no password', async () => {
    const instances = ['api', 'tokens', 'network', 'notifications'].map(name => ({ name, instance: 1 }))
    const plan = await planPorts(instances, { ...config, host: '127.0.0.2' })
    expect(Array.from(plan.values(), place => place.host)).to.deep.equal([
      '127.0.0.2',
      '127.0.0.2',
      '127.0.0.1',
      '127.0.0.2'
    ])
  })

  it('takes for 0 a free port outside those of outgoing connections', async () => {
    const [first = 0, second = 0] = Array.from((await planPorts(twoApis, config)).values(), ({ port }) => port)
    for (const port of [first, second]) expect(port).to.be.within(20_000, 32_000)
    expect(first).not.to.equal(second)
  })

  it('names the variables of all ports that are taken or used twice', async () => {
    const taken = await freePort()
    const server = createServer()
    neighbour = server
    await new Promise<void>(resolve => server.listen(taken, host, resolve))
    const base = await freePort()
    const instances = ['api', 'tokens', 'network', 'payments'].map(name => ({ name, instance: 1 }))
    const ports = { ...config, port: taken, tokensPort: base, networkPort: base }
    const error = await planPorts(instances, ports).catch((reason: unknown) => reason)
    expect(String(error)).to.contain(`PORT=${taken}: port ${taken} for api.1 is taken by another program`)
    expect(String(error)).to.contain(`NETWORK_PORT=${base}: port ${base} for network.1 is already that of tokens.1`)
  })
})

/** More instances of one process than a machine for trying out has. */
const INSTANCES_MAX = 50

describe('ports of the tools', () => {
  const ports = Object.values(toolPorts)

  it('do not collide with those of the service, however many instances run', () => {
    const { port, tokensPort, networkPort, notificationsPort } = readConfig({ SERVICE_ENV: 'test' })
    const taken = [port, tokensPort, networkPort, notificationsPort].flatMap(base =>
      Array.from({ length: INSTANCES_MAX }, (_, index) => base + 10 * index)
    )
    expect(ports.filter(one => taken.includes(one))).to.deep.equal([])
    expect(new Set(ports).size).to.equal(ports.length)
  })

  it('are documented in docs/RUNNING.md', () => {
    const page = readFileSync('docs/RUNNING.md', 'utf8')
    expect(ports.filter(port => !page.includes(String(port)))).to.deep.equal([])
  })

  it('are reported as taken, with the option that changes them', async () => {
    const [first, second] = [createServer(), createServer()]
    try {
      const port = await listenHere(first, 0, '--port')
      const failure = await listenHere(second, port, '--webhook-port').catch((error: Error) => error.message)
      expect(failure).to.equal(
        `Port ${port} is taken. Choose another: --webhook-port=N, or --webhook-port=0 for any that is free.`
      )
    } finally {
      first.close()
    }
  })
})
