import { expect } from 'chai'
import { useRedis } from '../support/redis.js'
import { type Reply, runLua } from './lua.js'
import { ReplyError } from './lua-values.js'
import { createRandom } from './random.js'
import { RedisData } from './redis-data.js'
import { nextStep } from './redis-steps.js'
import type { Step } from './steps.js'

const STEPS = 4_000
/** Ids of stream entries are moments, which differ: they are compared by the order in which they came up. */
const ENTRY_ID = /\d{13}-\d+/g

type Server = (step: Step) => Promise<unknown>

describe('the model of Redis', () => {
  const { redis } = lazily(useRedis())

  it('answers as a real server does, to commands and to the scripts of the service', async () => {
    const random = createRandom(1)
    const [real, model] = [withStableIds(realServer()), withStableIds(modelServer())]
    for (let i = 0; i < STEPS; i++) {
      const step = nextStep(random)
      const [expected, actual] = [await real(step), await model(step)]
      expect(actual, `step ${i}: ${step.join(' ').slice(0, 300)}`).to.deep.equal(expected)
    }
  })

  it('refuses a command that it does not know, rather than guess', () => {
    expect(() => new RedisData().execute(['SUNION', 'a', 'b'])).to.throw('add it to the model')
  })

  function realServer(): Server {
    // Inside a script answers have the shapes of RESP2, which are those of the model.
    const relay = 'return redis.call(unpack(ARGV))'
    return step =>
      (step[0] === 'EVAL'
        ? redis().eval(step[1] ?? '', Number(step[2]), ...step.slice(3))
        : redis().eval(relay, 0, ...step)
      ).catch(errorCode)
  }

  function modelServer(): Server {
    const data = new RedisData()
    return async step => {
      data.nowMs = Date.now()
      try {
        const [name = '', script = '', count = '0', ...rest] = step
        if (name !== 'EVAL') return data.execute(step)
        const keys = rest.slice(0, Number(count))
        return runLua(script, keys, rest.slice(Number(count)), args => (args[0] === 'PUBLISH' ? 0 : data.execute(args)))
      } catch (error) {
        if (error instanceof ReplyError) return errorCode(error)
        throw error
      }
    }
  }
})

/** Only the kind of an error is compared: its sentence belongs to the server's version. */
function errorCode(error: unknown): string {
  return `error ${error instanceof Error ? error.message.split(' ', 1)[0] : error}`
}

/** Gives the entry ids of answers names, and takes the names in commands: `#3` is the fourth entry that came up. */
function withStableIds(server: Server): Server {
  const ids: string[] = []
  const nameOf = (id: string): string => {
    if (!ids.includes(id)) ids.push(id)
    return `#${ids.indexOf(id)}`
  }
  const named = (reply: unknown): unknown => {
    if (Array.isArray(reply)) return reply.map(named)
    return typeof reply === 'string' ? reply.replace(ENTRY_ID, nameOf) : reply
  }
  return async step => {
    const sent = step.map(arg =>
      arg.replace(/^#\d+$|(?<=")#\d+(?=")/g, name => ids[Number(name.slice(1)) % Math.max(1, ids.length)] ?? '0-1')
    )
    const reply = named(await server(sent))
    // How long an entry has been idle is a matter of the moment.
    return step[0] === 'XPENDING' ? withoutIdleTimes(reply) : reply
  }
}

function withoutIdleTimes(reply: unknown): unknown {
  return Array.isArray(reply) ? reply.map((row: Reply[]) => [row[0], row[1], row[3]]) : reply
}

/** `useRedis` has a connection inside tests only. */
function lazily(test: ReturnType<typeof useRedis>): { redis: () => ReturnType<typeof useRedis>['redis'] } {
  return { redis: () => test.redis }
}
