import { expect } from 'chai'
import { argumentsMin } from '../../redis/command-arguments.js'
import { useRedis } from '../support/redis.js'

describe('arguments of commands in scripts', () => {
  const servers = useRedis()

  it('have the minimum length that the server accepts, so that Redis 7.2 and newer check the permission', async () => {
    for (const [words, count] of Object.entries(argumentsMin)) {
      const [info] = (await servers.redis.call('COMMAND', 'INFO', words.replace(' ', '|'))) as [[string, number]]
      expect(words.split(' ').length + count, words).to.equal(Math.abs(info[1]))
    }
  })
})
