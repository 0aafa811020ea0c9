import { createServer, type Server } from 'node:net'
import { expect } from 'chai'
import { assignPorts, freePort } from '../../../scripts/start/ports.js'

const host = '127.0.0.1'

describe('ports', () => {
  let neighbour: Server | undefined
  afterEach(() => neighbour?.close())

  it('gives instance k the base port + 10 (k - 1)', async () => {
    const base = await freePort()
    const requests = [1, 2].map(instance => ({ process: 'api', instance, base, host }))
    expect(await assignPorts(requests)).to.deep.equal([base, base + 10])
  })

  it('takes for 0 a free port that no outgoing connection is given', async () => {
    const [first = 0, second = 0] = await assignPorts([
      { process: 'api', instance: 1, base: 0, host },
      { process: 'api', instance: 2, base: 0, host }
    ])
    for (const port of [first, second]) expect(port).to.be.within(20_000, 32_000)
    expect(first).not.to.equal(second)
  })

  it('names the variables of all ports that are taken or given twice', async () => {
    const taken = await freePort()
    const server = createServer()
    neighbour = server
    await new Promise<void>(resolve => server.listen(taken, host, resolve))
    const base = await freePort()
    const error = await assignPorts([
      { process: 'api', instance: 1, base: taken, host },
      { process: 'tokens', instance: 1, base, host },
      { process: 'network', instance: 1, base, host }
    ]).catch((reason: unknown) => reason)
    expect(String(error)).to.contain(`PORT=${taken}: port ${taken} for api.1 is taken by another program`)
    expect(String(error)).to.contain(`NETWORK_PORT=${base}: port ${base} for network.1 is already that of tokens.1`)
  })
})
