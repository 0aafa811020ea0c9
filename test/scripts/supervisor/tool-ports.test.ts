import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { readConfig } from '../../../runtime/config.js'
import { portOf, toolPorts } from '../../../scripts/supervisor/tool-ports.js'

/** More instances of one process than a machine for trying out has. */
const INSTANCES_MAX = 50

describe('ports of the tools', () => {
  const ports = Object.values(toolPorts)

  it('are no ports of the service, however many instances run', () => {
    const { port, tokensPort, networkPort, notificationsPort } = readConfig({})
    const taken = [port, tokensPort, networkPort, notificationsPort].flatMap(base =>
      Array.from({ length: INSTANCES_MAX }, (_, index) => base + 10 * index)
    )
    expect(ports.filter(one => taken.includes(one))).to.deep.equal([])
    expect(new Set(ports).size).to.equal(ports.length)
  })

  it('stand in docs/RUNNING.md', () => {
    const page = readFileSync('docs/RUNNING.md', 'utf8')
    expect(ports.filter(port => !page.includes(String(port)))).to.deep.equal([])
  })

  it('are numbers', () => {
    expect(portOf('port', '0')).to.equal(0)
    for (const text of ['', 'x', '-1', '65536', '1e3']) {
      expect(() => portOf('port', text)).to.throw(`--port ${text} is not a port: give a number from 0 to 65535.`)
    }
  })
})
