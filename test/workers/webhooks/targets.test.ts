import { expect } from 'chai'
import { createEgressPolicy } from '../../../runtime/egress-policy.js'
import { endlessLease } from '../../../workers/network/lease-until.js'
import { createSender, type SendOutcome } from '../../../workers/webhooks/sender.js'
import { signatureHeader } from '../../../workers/webhooks/signature.js'
import { type Receiver, receiverTls, startReceiver } from '../../support/receiver.js'

describe('targets of webhooks', () => {
  let receiver: Receiver
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
