import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { delay } from '../../../runtime/delay.js'
import { createEgressPolicy } from '../../../runtime/egress-policy.js'
import { createLogger } from '../../../runtime/log.js'
import { endlessLease } from '../../../workers/network/leases.js'
import { Receiver } from '../../../workers/webhooks/receivers.js'
import { checkedLookup, resolverWith } from '../../../workers/webhooks/resolver.js'
import { createSender, type SendOutcome } from '../../../workers/webhooks/sender.js'
import { signatureHeader } from '../../../workers/webhooks/signature.js'
import { receiverTls, startReceiver, type Receiver as TestReceiver } from '../../support/receiver.js'

describe('targets of webhooks', () => {
  let receiver: TestReceiver
  let port = ''
  before(async () => {
    receiver = await startReceiver()
    port = new URL(receiver.url).port
  })
  after(() => receiver.stop())

  async function post(
    url: string,
    answers: readonly string[] = [],
    allowed: readonly string[] = []
  ): Promise<SendOutcome> {
    let asked = 0
    const sender = createSender({
      policy: createEgressPolicy(allowed),
      timeoutMs: 2_000,
      clock: { now: () => Date.now() },
      ca: (await receiverTls()).ca,
      // A name server that answers differently each time (DNS rebinding).
      resolve: async () => [answers[Math.min(asked++, answers.length - 1)] ?? '']
    })
    try {
      return await sender.post(url, {}, '{}', endlessLease)
    } finally {
      await sender.close()
    }
  }
  const reasonOf = ({ status, note }: SendOutcome): string => (status === null ? note : `${status}`)

  it('are judged by the address that a name stands for', async () => {
    expect(reasonOf(await post(`https://localhost:${port}/`, ['127.0.0.1']))).to.match(
      /^localhost is 127\.0\.0\.1, which is no public address \(loopback\)$/
    )
    expect(reasonOf(await post(`https://localhost:${port}/`, ['127.0.0.1'], ['127.0.0.0/8']))).to.equal('204')
  })

  it('are called at the very address that was judged, also when the name has another one a moment later', async () => {
    const before = receiver.received.length
    const outcome = await post(`https://localhost:${port}/`, ['192.0.2.1', '127.0.0.1'])
    expect(reasonOf(outcome)).to.contain('192.0.2.1')
    expect(receiver.received).to.have.length(before)
  })

  for (const host of [
    '127.0.0.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '169.254.169.254'
  ]) {
    it(`may not be written as an address either: ${host}`, async () => {
      expect(reasonOf(await post(`https://${host}:${port}/`))).to.match(
        /is no public address \((loopback|link-local)\)/
      )
    })
  }

  it('are https', async () => {
    expect(reasonOf(await post(`http://127.0.0.1:${port}/`, [], ['127.0.0.0/8']))).to.equal('the URL is not https')
  })

  it('are looked up again while events flow: the name may stand for another address by now', async () => {
    for (const [connectionLifeMs, lookups] of [
      [60_000, 1],
      [1, 3]
    ] as const) {
      let asked = 0
      const sender = createSender({
        policy: createEgressPolicy(['127.0.0.0/8']),
        timeoutMs: 2_000,
        clock: { now: () => Date.now() },
        ca: (await receiverTls()).ca,
        resolve: async () => {
          asked++
          return ['127.0.0.1']
        },
        connectionLifeMs
      })
      for (let n = 0; n < 3; n++) {
        expect(reasonOf(await sender.post(`https://localhost:${port}/`, {}, '{}', endlessLease))).to.equal('204')
        await delay(5)
      }
      await sender.close()
      expect(asked).to.equal(lookups)
    }
  })

  it('must have a certificate for their name', async () => {
    const outcome = await post(`https://shop.example:${port}/`, ['127.0.0.1'], ['127.0.0.0/8'])
    expect(reasonOf(outcome)).to.equal('no secure connection (ERR_TLS_CERT_ALTNAME_INVALID)')
  })
})

describe('the signature of webhooks', () => {
  it('is the HMAC-SHA256 of time, dot and raw body under the whole text of the secret', () => {
    // Made with: printf '1767355200.{"a":1}' | openssl dgst -sha256 -hmac whsec_test
    const expected = '8637bf667c4e28ea26190a409c2f59d1665d661c67a4201b743e8ba240711519'
    expect(signatureHeader(['whsec_test'], 1_767_355_200_999, '{"a":1}')).to.equal(`t=1767355200,v1=${expected}`)
  })

  it('is there twice during a rotation', () => {
    const both = signatureHeader(['whsec_new', 'whsec_old'], 0, 'x')
    const [, first] = signatureHeader(['whsec_new'], 0, 'x').split(',')
    const [, second] = signatureHeader(['whsec_old'], 0, 'x').split(',')
    expect(both).to.equal(`t=0,${first},${second}`)
  })
})

describe('names of receivers in /etc/hosts', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hosts-'))
  const file = join(dir, 'hosts')
  before(() =>
    writeFileSync(
      file,
      '# a partner, over a private line\n198.51.100.7\tPartner.example hooks.partner.example # its own\n2001:db8::7 partner.example\n'
    )
  )
  after(() => rmSync(dir, { recursive: true, force: true }))

  it('have the addresses that the file gives them', async () => {
    const resolve = resolverWith(file)
    expect(await resolve('partner.example')).to.deep.equal(['198.51.100.7', '2001:db8::7'])
    expect(await resolve('HOOKS.partner.example.')).to.deep.equal(['198.51.100.7'])
  })

  it('are refused where their address is not public, as all names are', async () => {
    writeFileSync(file, '10.0.0.7 partner.example\n')
    const lookup = checkedLookup(createEgressPolicy([]), resolverWith(file))
    const error = await new Promise(done => lookup('partner.example', { all: true }, done))
    expect(error).to.have.property('code', 'FORBIDDEN_TARGET')
  })
})

describe('the window of an endpoint', () => {
  it('grows after each success, up to the maximum, and halves after an answer of too many requests', async () => {
    const receiver = new Receiver(20, createLogger('webhooks', 'silent'))
    expect(receiver.room).to.equal(16)
    for (let n = 0; n < 10; n++) receiver.note(204)
    expect(receiver.room).to.equal(20)
    receiver.note(500)
    expect(receiver.room).to.equal(20)
    receiver.note(503)
    expect(receiver.room).to.equal(10)
    let answer = (): void => undefined
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    const sending = Array.from({ length: 12 }, () => receiver.during(() => answered))
    expect([receiver.room, receiver.isIdle]).to.deep.equal([0, false])
    for (let n = 0; n < 10; n++) receiver.note(null)
    answer()
    await Promise.all(sending)
    expect([receiver.room, receiver.isIdle]).to.deep.equal([1, true])
  })
})
