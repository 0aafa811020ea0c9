import { expect } from 'chai'
import { typedCard, useTokensApp } from '../../support/tokens-app.js'

const A_BOX = /v2\.[a-p]{20}\./

describe('POST /v1/tokens: secrecy (invariant 7)', () => {
  const app = useTokensApp()

  it('lets no card number or CVV into either Redis, the logs, or an answer', async () => {
    const answers = [
      await app.post(typedCard),
      await app.post({ ...typedCard, card_number: '4024007153760061' }),
      await app.post({ ...typedCard, cvv: `${typedCard.cvv}${typedCard.cvv}`, [typedCard.card_number]: 1 }),
      await app.post({ ...typedCard, holder_name: typedCard.card_number }),
      await app.post(`${JSON.stringify(typedCard)} and more`),
      await app.post(JSON.stringify(typedCard).slice(0, -1)),
      await app.post(typedCard, { 'X-Correlation-Id': typedCard.card_number }),
      await app.post(typedCard, { Authorization: `Bearer ${typedCard.card_number}` }),
      await withBrokenStore(() => app.post(typedCard))
    ]
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 422, 400, 400, 400, 400, 400, 401, 503])
    const places = {
      answers: await Promise.all(answers.map(async answer => `${[...answer.headers]} ${await answer.text()}`)),
      durable: await dump(app.redis.redis),
      memoryOnly: await dump(app.redis.secrets),
      logs: app.logLines
    }
    expect(places.memoryOnly.join()).to.match(A_BOX)
    expect(places.logs.join()).to.contain('EXECABORT')
    for (const [place, texts] of Object.entries(places)) {
      expect(texts.join('\n'), place).not.to.contain('402400715376006')
      expect(texts.join('\n'), place).not.to.match(new RegExp(`(^|[^\\w-])${typedCard.cvv}`))
    }
    expect(places.logs.join(), 'sealed data in a log is sealed data on a disk').not.to.match(A_BOX)
  })

  /** Makes the store refuse each new token, as a wrong deployment of Redis would. */
  async function withBrokenStore<T>(action: () => Promise<T>): Promise<T> {
    await app.redis.secrets.call('ACL', 'SETUSER', 'default', '-hset')
    try {
      return await action()
    } finally {
      await app.redis.secrets.call('ACL', 'SETUSER', 'default', '+hset')
    }
  }

  async function dump(redis: typeof app.redis.redis): Promise<string[]> {
    const names = await redis.keys('*')
    const values = names.map(async name => {
      const type = await redis.type(name)
      if (type === 'hash') return redis.hgetall(name)
      return type === 'zset' ? redis.zrange(name, '0', '-1') : redis.get(name)
    })
    return [...names, ...(await Promise.all(values)).map(value => JSON.stringify(value))]
  }
})
