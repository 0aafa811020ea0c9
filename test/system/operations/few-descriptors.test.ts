import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { Merchant } from '../../support/merchant.js'
import { type ServiceUnderTest, startService } from '../../support/service.js'

const FEW = 200
const CLIENTS = 150

describe('processes that may open 200 files', () => {
  let service: ServiceUnderTest
  const merchant = new Merchant(() => service)
  before(async () => {
    const procfile = (await readFile('Procfile', 'utf8')).replace(/^(\w+): /gm, `$1: ulimit -n ${FEW}; `)
    service = await startService({ procfile, env: { LOG_LEVEL: 'warn' } })
  })
  after(() => service?.stop())

  it('warn of it at their start, with what they need', async () => {
    for (const [name, needed] of Object.entries({ api: 2_304, tokens: 2_304, payments: 1_280, timers: 256 })) {
      const { status, text } = await service.ops(`${name}.1`, '/readyz')
      expect(status, name).to.equal(200)
      expect(JSON.parse(text).warnings['open files'], name).to.contain(`Only ${FEW} files`).and.to.contain(` ${needed}`)
    }
    await until('the log has it', () => service.logs().includes(`Only ${FEW} files and connections`))
  })

  it('take payments beside more connections than they have room for, log those, and are asked how they are', async () => {
    const { hostname, port } = new URL(service.baseUrl)
    const sockets: Socket[] = []
    try {
      for (let opened = 0; opened < 20; opened++) sockets.push(connect(Number(port), hostname))
      expect((await merchant.create()).status).to.equal(201)
      for (let opened = 20; opened < CLIENTS; opened++) sockets.push(connect(Number(port), hostname))
      for (const socket of sockets) socket.on('error', () => undefined)
      await until('the log has it', () => service.logs().includes('a connection was closed unanswered'))
      expect((await service.ops('api.1', '/readyz')).status).to.equal(200)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    await until('a payment afterwards', async () => (await merchant.create()).status === 201)
    expect(service.logs().split('a connection was closed unanswered').length).to.be.lessThan(5)
  })
})
