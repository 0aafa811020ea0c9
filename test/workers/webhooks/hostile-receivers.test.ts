import { expect } from 'chai'
import { makeLoopbackTls } from '../../../scripts/start/loopback-tls.js'
import { until } from '../../support/conditions.js'
import type { Answer } from '../../support/receiver.js'
import { emit, registerEndpoint, START_MS, useDelivery } from '../../support/webhooks.js'

/** Also of the healthy receiver, whose answers must not be late when the machine pauses. */
const TIMEOUT_MS = 1_500

describe('receivers that misbehave', () => {
  const rig = useDelivery()

  /** Ten events to a receiver that misbehaves, ten to one that does not: those must all arrive. */
  async function besideHealthy(answer: Answer, tls?: Awaited<ReturnType<typeof makeLoopbackTls>>) {
    const healthy = await rig.receiver()
    const bad = await rig.receiver(answer, tls)
    await registerEndpoint(rig.test, 'm_bad', bad.url)
    await registerEndpoint(rig.test, 'm_good', healthy.url)
    await rig.deliverer({ timeoutMs: TIMEOUT_MS })
    for (let n = 0; n < 10; n++) {
      await emit(rig.test, 'm_bad', ['captured'])
      await emit(rig.test, 'm_good', ['captured'])
    }
    await until('the healthy receiver has all', () => healthy.accepted().size === 10)
    return bad
  }
  /** What the first attempts say, each once. */
  async function historyOf<Name extends 'status' | 'note'>(merchantId: string, name: Name): Promise<unknown[]> {
    const events = await until('an attempt failed', async () => {
      const waiting = await rig.waiting(merchantId)
      return waiting.some(({ attempts }) => attempts.length > 0) && waiting
    })
    return [...new Set(events.flatMap(({ attempts }) => attempts.map(attempt => attempt[name])))]
  }

  const announces: Answer = response => {
    const more = setInterval(() => response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)), 1)
    response.once('close', () => clearInterval(more))
  }
  const answers = (status: number, text: string | Buffer, headers = {}): Answer => {
    return response => response.writeHead(status, headers).end(text)
  }
  const failing: readonly (readonly [what: string, answer: Answer, note: string])[] = [
    ['hangs: the attempt ends in time', () => undefined, `no answer within ${TIMEOUT_MS} ms`],
    ['cuts the connection', response => response.destroy(), 'the connection was closed before the answer'],
    [
      'answers with something other than HTTP',
      response => void response.socket?.end('I am a teapot\r\n\r\n'),
      'the answer is not HTTP/1.1'
    ],
    ['announces an answer without end: the attempt ends at once', announces, 'announcements (1xx) and no answer'],
    [
      'answers with card data: it is not kept',
      answers(500, 'bad card 4024 0071 5376 0060, cvv: 123'),
      '(an answer with card data)'
    ],
    [
      'answers in gzip: the note says so, and holds no bytes of it',
      answers(500, Buffer.from([0x1f, 0x8b, 8, 0]), { 'Content-Encoding': 'gzip' }),
      '(an answer in gzip)'
    ],
    [
      'answers with a card number where the note is cut: nothing is kept',
      answers(500, `${'x'.repeat(184)} 4024007153760060 is in use`),
      '(an answer with card data)'
    ],
    [
      'names a card number as its encoding: nothing is kept',
      answers(500, 'x', { 'Content-Encoding': '4024007153760060' }),
      '(an answer in an encoding)'
    ]
  ]
  for (const [what, answer, note] of failing) {
    it(what, async () => {
      await besideHealthy(answer)
      expect(await historyOf('m_bad', 'note')).to.include(note)
    })
  }

  it('redirects: the service does not follow', async () => {
    const inside = await rig.receiver()
    await besideHealthy(answers(307, '', { Location: inside.url }))
    expect(await historyOf('m_bad', 'status')).to.deep.equal([307])
    expect(inside.received).to.have.length(0)
  })

  it('has a certificate of an unknown authority', async () => {
    const bad = await besideHealthy(answers(204, ''), await makeLoopbackTls())
    expect((await historyOf('m_bad', 'note')).join()).to.match(
      /^no secure connection \(.*(SELF_SIGNED|UNABLE_TO_VERIFY|CERT)/
    )
    expect(bad.received).to.have.length(0)
  })

  const delivered: Readonly<Record<string, Answer>> = {
    'answers 200 and never ends the answer': response => void response.writeHead(200).write('ok so far'),
    'announces its answer once': response => {
      response.writeEarlyHints({ link: '</hint>' })
      response.writeHead(204).end()
    },
    'sends a 100 Continue that was not asked for': response => {
      response.socket?.write('HTTP/1.1 100 Continue\r\n\r\n')
      setTimeout(() => response.writeHead(204).end(), 5)
    }
  }
  for (const [what, answer] of Object.entries(delivered)) {
    it(`${what}: delivered`, async () => {
      const bad = await besideHealthy(answer)
      await rig.noneRemains('m_bad')
      expect(bad.received).to.have.length(10)
    })
  }

  it('answers 200 and then 10 MB: delivered, and not read to the end', async () => {
    let sent = 0
    const answer: Answer = response => {
      response.writeHead(200)
      const chunk = Buffer.alloc(64 * 1_024, 'x')
      const more = (): void => {
        while (sent < 160 * 10 * chunk.length && !response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }
    const bad = await besideHealthy(answer)
    await rig.noneRemains('m_bad')
    expect(bad.received).to.have.length(10)
    expect(sent, 'bytes written').to.be.lessThan(10 * 4 * 1_024 * 1_024)
  })

  it('answers 500 half of the time: every event arrives in the end, in order', async () => {
    const answer: Answer = (response, index) => response.writeHead(index % 2 === 0 ? 500 : 204).end()
    const bad = await rig.receiver(answer)
    await registerEndpoint(rig.test, 'm_bad', bad.url)
    await rig.deliverer({ delaysMs: [...Array(30).fill(1_000), 1e9] })
    await Promise.all(Array.from({ length: 20 }, () => emit(rig.test, 'm_bad', ['capturing', 'captured'])))
    const ticking = setInterval(() => rig.advance(1_000), 10)
    await rig.noneRemains('m_bad').finally(() => clearInterval(ticking))
    expect([...bad.accepted().values()]).to.deep.equal(Array(20).fill(['capturing', 'captured']))
  })
})

describe('a dead endpoint with 2,000 events', () => {
  const rig = useDelivery()

  it('delays no other endpoint, costs a trial now and then, and gets everything when it is back', async () => {
    const dead = await rig.receiver(() => undefined)
    const healthy = await rig.receiver()
    await registerEndpoint(rig.test, 'm_dead', dead.url)
    await registerEndpoint(rig.test, 'm_good', healthy.url)
    let aheadMs = 0
    const sinceMs = performance.now()
    const aheadAtStartMs = START_MS - Date.now()
    const clock = { now: () => Date.now() + aheadAtStartMs + aheadMs }
    await rig.deliverer({ clock, timeoutMs: 1_000, delaysMs: Array(20).fill(5_000) })
    for (let n = 0; n < 20; n++)
      await Promise.all(Array.from({ length: 100 }, () => emit(rig.test, 'm_dead', ['captured'])))
    const ids = await Promise.all(
      Array.from({ length: 200 }, () => emit(rig.test, 'm_good', ['capturing', 'captured']))
    )
    await until('the healthy merchant has all', () => healthy.accepted().size === ids.length)
    expect(dead.load.most).to.be.at.most(64)
    expect(dead.accepted().size).to.equal(0)
    // At first 64 at once, which all end after a second; then one trial every 5 s.
    const triedMax = 100 + (performance.now() - sinceMs) / 1_000
    expect(dead.received.length, 'attempts at the dead endpoint').to.be.at.most(triedMax)

    dead.answer = response => response.writeHead(204).end()
    const ticking = setInterval(() => {
      aheadMs += 1_000
    }, 20)
    await until('the dead one has all', () => dead.accepted().size === 2_000).finally(() => clearInterval(ticking))
  })
})
