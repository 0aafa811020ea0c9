import { expect } from 'chai'
import { argumentsMin } from '../../redis/command-arguments.js'
import { useRedis } from '../support/redis.js'

describe('arguments of commands in scripts', () => {
  const servers = useRedis()

  it('are as many as the server takes at least, so that Redis 7.2 and newer say who may run the command', async () => {
    for (const [words, count] of Object.entries(argumentsMin)) {
      const [info] = (await servers.redis.call('COMMAND', 'INFO', words.replace(' ', '|'))) as [[string, number]]
      expect(words.split(' ').length + count, words).to.equal(Math.abs(info[1]))
    }
  })
})
