import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { readConfig } from '../../../runtime/config.js'
import { listenHere, toolPorts } from '../../../scripts/start/tool-ports.js'

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
