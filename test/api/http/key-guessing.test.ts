import { expect } from 'chai'
import { createAuthenticator } from '../../../api/http/authenticator.js'
import { until } from '../../support/conditions.js'
import { aKey, SECRET } from '../running-api.js'

const ROUNDS = 500

describe('guessing keys', () => {
  const authenticator = createAuthenticator({
    environment: 'test',
    findKey: async keyId => (keyId === 'k_full' ? aKey('k_full') : null)
  })

  async function costOf(key: string): Promise<number> {
    const startedAtMs = performance.now()
    const refusal = await authenticator.authenticate(`Bearer ${key}`).catch((error: Error) => error.message)
    if (typeof refusal !== 'string') throw new Error('the guess was right')
    return performance.now() - startedAtMs
  }

  it('takes the same time whether the id exists or not, and however close the secret is', async () => {
    const guesses = [
      `svc_test.k_full.${'x'.repeat(SECRET.length)}`,
      `svc_test.k_full.${SECRET.slice(0, -1)}x`,
      `svc_test.k_none.${SECRET}`
    ]
    await until('the same time', async () => {
      const costs = guesses.map((): number[] => [])
      // One after the other, so that other load of the machine affects all alike.
      for (let round = 0; round < ROUNDS; round++) {
        for (const [index, guess] of guesses.entries()) costs[index]?.push(await costOf(guess))
      }
      const medians = costs.map(middleOf)
      return Math.max(...medians) / Math.min(...medians) < 1.5
    })
  })

  it('gives the same answer to every wrong key', async () => {
    const answers = await Promise.all(
      ['svc_test.k_full.wrong', 'svc_test.k_none.wrong', 'svc_live.k_full.wrong', 'nonsense'].map(key =>
        authenticator.authenticate(`Bearer ${key}`).catch((error: Error) => error.message)
      )
    )
    expect(new Set(answers).size).to.equal(1)
  })
})

function middleOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
