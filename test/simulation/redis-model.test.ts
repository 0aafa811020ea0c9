import { expect } from 'chai'
import { loadLua } from '../../redis/scripts.js'
import { useRedis } from '../support/redis.js'
import { type Reply, runLua } from './lua.js'
import { ReplyError } from './lua-values.js'
import { createRandom, type Random } from './random.js'
import { RedisData } from './redis-data.js'

const STEPS = 4_000
/** Ids of stream entries are moments, which differ: they are compared by the order in which they came up. */
const ENTRY_ID = /\d{13}-\d+/g

type Step = readonly string[]
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

type Steps = readonly [Step, ...Step[]]

/** The next command or script, on a handful of keys so that they meet each other's data. */
function nextStep(random: Random): Step {
  const kinds = [dataSteps, streamSteps, scriptSteps, webhookSteps] as const
  return random.pick(random.pick(kinds)(random))
}

function dataSteps(random: Random): Steps {
  const one = oneOfTwo(random)
  const score = String(random.between(0, 20))
  return [
    ['SET', one('text'), random.pick(['[1,0,"f"]', '[1,1,"m",[]]', 'çã'])],
    ['SET', one('text'), 'v', 'PX', '100000'],
    ['SET', one('text'), 'v', 'KEEPTTL'],
    ['SETNX', one('text'), 'v'],
    ['INCR', 'count'],
    ['GET', one('text')],
    ['MGET', one('text'), one('text')],
    ['GETRANGE', one('text'), '0', '15'],
    ['EXISTS', one('text')],
    ['DEL', one('text')],
    ['PEXPIRE', one('text'), '100000'],
    ['HSET', one('hash'), one('field'), score, one('field'), 'v'],
    ['HSETNX', one('hash'), one('field'), score],
    ['HGET', one('hash'), one('field')],
    ['HMGET', one('hash'), 'field1', 'field2', 'field3'],
    ['HDEL', one('hash'), one('field')],
    ['ZADD', one('zset'), score, one('member')],
    ['ZADD', one('zset'), 'XX', score, one('member')],
    ['ZADD', one('zset'), score, one('member'), score, one('member')],
    ['ZREM', one('zset'), one('member')],
    ['ZCARD', one('zset')],
    ['ZRANGE', one('zset'), '0', '-1'],
    ['SADD', one('set'), one('member'), one('member')],
    ['SREM', one('set'), one('member'), one('member')],
    ['SCARD', one('set')],
    ['ZCOUNT', one('zset'), '-inf', score],
    ['ZRANGE', one('zset'), '0', '0', 'WITHSCORES'],
    ['ZRANGE', one('zset'), '1', score],
    ['ZRANGEBYSCORE', one('zset'), '-inf', `(${score}`, 'WITHSCORES', 'LIMIT', '0', '5'],
    ['ZRANGEBYSCORE', one('zset'), score, '+inf'],
    [
      ...['ZRANGE', one('lex'), random.pick(['+', '(b', '[b']), random.pick(['-', '[a', '(a'])],
      ...['BYLEX', 'REV', 'LIMIT', '0', '2']
    ],
    [
      ...['ZRANGE', one('lex'), random.pick(['-', '[a', '(a']), random.pick(['+', '(b', '[b'])],
      ...['BYLEX', 'LIMIT', '0', '2']
    ],
    ['ZADD', one('lex'), '0', random.pick(['a', 'b', 'ab', 'c'])],
    ['GET', one('hash')]
  ]
}

function streamSteps(random: Random): Steps {
  const one = oneOfTwo(random)
  const [entry, consumer, stream] = [anEntry(random), one('worker'), STREAM]
  return [
    ['XADD', stream, '*', 'p', one('member'), 'n', '1'],
    ['XLEN', stream],
    ['XREAD', 'COUNT', '2', 'STREAMS', stream, entry],
    ['XREAD', 'STREAMS', 'nothing', stream, '0-0', '0'],
    ['XRANGE', stream, entry, entry],
    ['XGROUP', 'CREATE', stream, 'payments', '0', 'MKSTREAM'],
    ['XREADGROUP', 'GROUP', 'payments', consumer, 'COUNT', '2', 'STREAMS', stream, '>'],
    ['XREADGROUP', 'GROUP', 'payments', consumer, 'STREAMS', stream, '0'],
    ['XACK', stream, 'payments', entry],
    ['XDEL', stream, entry],
    ['XTRIM', stream, 'MAXLEN', random.pick(['3', '20', '60'])],
    ['XGROUP', 'SETID', stream, 'payments', random.pick(['0', '$'])],
    ['XGROUP', 'CREATE', stream, 'payments', '0', 'MKSTREAM'],
    random.pick([
      ['XGROUP', 'DESTROY', stream, 'payments'],
      ['XLEN', stream],
      ['XLEN', stream]
    ]),
    ['XGROUP', 'DELCONSUMER', stream, 'payments', consumer],
    ['XPENDING', stream, 'payments', '-', '+', '10', consumer],
    ['XPENDING', stream, 'payments', '(0-0', '+', '2', consumer],
    ['XPENDING', stream, 'payments', 'IDLE', '100000', '-', '+', '10']
  ]
}

function scriptSteps(random: Random): Steps {
  const one = oneOfTwo(random)
  const [entry, consumer, stream] = [anEntry(random), one('worker'), STREAM]
  const score = String(random.between(0, 20))
  const version = String(random.between(1, 6))
  const held = { group: 'payments', entry, consumer }
  const claim = { owner: one('owner'), request: random.pick(['', one('request')]) }
  return [
    named('requeue', [stream], {
      ...held,
      consumer: random.pick(['', consumer]),
      fields: ['p', 'member1', 'n', score]
    }),
    named('release_command', [stream, 'hash1'], {
      ...held,
      member: 'field1',
      delivery: score,
      fields: ['p', 'member1']
    }),
    script(
      'begin_commands',
      [stream, 'hash1', one('pay'), 'count'],
      ['payments', entry, consumer, one('field'), version, random.pick(['', score])]
    ),
    script(
      'dead_letter',
      [stream, 'dead', one('zset'), one('text'), 'zset1'],
      ['payments', entry, consumer, 'member1', random.pick([score, 'never']), '[2,"r"]', 'p', 'm']
    ),
    script('finish', [one('text'), stream], ['[2,"r"]', 'payments', entry, consumer, 'channel', 'reply']),
    script(
      'finish',
      [one('text'), stream, one('pay'), 'zset1', 'zset2'],
      ['', 'payments', entry, consumer, '', '', one('member'), random.pick(['', version])]
    ),
    named('pace_reconciliations', ['pace'], {
      perSecond: 1_000_000,
      wanted: random.pick([0, 2]),
      returned: random.pick([0, 2])
    }),
    named('fire_due', [one('zset'), stream], { nowMs: Number(score), max: 2, entry: '[1,%s,%s]', againAtMs: 30 }),
    script(
      'claim_tokens',
      [one('token'), one('text'), one('token')],
      ['100000', ...[one('merchant'), claim.owner, claim.request], 'm', 'o', '', ...[one('merchant'), one('owner'), '']]
    ),
    named('release_token', [one('token')], claim),
    ['HSET', one('token'), 'merchant', one('merchant'), 'card', 'c', 'typed', 't', 'brand', 'b', 'last4', 'l'],
    named('drop_consumer', [stream], { group: 'payments', consumer }),
    script('list_payments', ['lex1', 'lex2'], ['newest', '1', random.pick(['(~', '(b']), '[']),
    script('list_payments', ['lex1', 'lex2'], ['oldest', '2', '(', random.pick(['(~', '(b'])]),
    script(
      'accept_payment',
      [one('text'), one('pay'), stream, one('lex'), one('lex'), 'zset1', 'count'],
      ['[1,0,"f"]', '[1,1,"m",[]]', 'a', 'b', '', score, 'p', 'a']
    ),
    script(
      'accept_operation',
      [one('text'), one('pay'), stream, 'count'],
      ['[1,0,"f"]', '100000', version, random.pick(['', '1']), 'p', 'a']
    ),
    ...commitSteps(random)
  ]
}

function commitSteps(random: Random): Step[] {
  const one = oneOfTwo(random)
  const [entry, consumer] = [anEntry(random), one('worker')]
  const score = String(random.between(0, 20))
  const version = String(random.between(1, 6))
  return [
    script(
      'commit',
      [
        one('pay'),
        one('zset'),
        'hash1',
        one('text'),
        'events3',
        one('text'),
        STREAM,
        'doubt',
        'sales',
        'lex3',
        'lex1',
        one('lex'),
        'deliveries',
        'given up',
        'hash1',
        'count'
      ],
      [
        version,
        `[1,${Number(version) + 1},"m",[]]`,
        'a',
        score,
        'x',
        '[2,"r"]',
        'payments',
        entry,
        'c',
        'r',
        random.pick(['', entry]),
        'm',
        random.pick(['', score]),
        random.pick(['', 'sale']),
        random.pick(['', score]),
        ...[consumer, random.pick(['', '1'])],
        ...random.pick([[], ['[1]', '[9,"r"]', score]])
      ]
    )
  ]
}

/** The scripts of the delivery: the events of two payments move from one place to another. */
function webhookSteps(random: Random): Steps {
  const one = oneOfTwo(random)
  const [entry, events, place] = [anEntry(random), one('events'), `[1,"${one('payment')}","m"]`]
  const score = random.between(0, 20)
  const some = <T>(value: T): T | undefined => random.pick([value, undefined])
  const short = `[${one('event')}]`
  const [event, record] = [`[1,${score},[9,"r"],${short}]`, `[1,${short}]`]
  const failing = random.pick([undefined, undefined, '[1,1,1]', '[1,5,1,9]'])
  const given = {
    ...{ group: 'payments', entry, place, merchant: 'm', event, record, occurredMs: score },
    result: random.pick(['delivered', 'waits', 'waits', 'undeliverable', 'undeliverable', 'forgotten', 'set aside']),
    ...{ before: failing, failing: random.pick([failing, undefined, '[1,5,1,9]']), dueMs: score, lookMs: some(score) },
    ...{
      retry: some(`${event}*`),
      journalFromMs: 0,
      letter: ['l', 'letter']
    },
    ...{ undeliverableMax: random.between(1, 3), undeliverableFromMs: random.between(0, 6), undeliverableMs: 9_999 },
    ...{ follow: some(random.between(0, 2)), followDueByMs: score }
  }
  const step = { merchant: 'm', nowMs: score, before: failing, againMs: random.between(0, 20) }
  return [
    ['RPUSH', events, event],
    ['LPOP', events],
    ['RPOP', events],
    ['LINDEX', events, '0'],
    ['ZADD', 'lines', 'LT', String(score), 'm'],
    named('conclude_webhook', [STREAM, events, 'line', 'lines', 'failing', 'journal', 'given up', 'dead'], given),
    named('fire_webhooks', ['line', 'lines', 'failing', STREAM], {
      ...step,
      ...random.pick([{ max: 2 }, { max: 0 }, { max: 1, trial: '[1,5,1,20]' }])
    }),
    named('replace_record', ['record'], { before: some('a'), after: 'a' }),
    named('replay_webhook', [events, STREAM, 'given up'], {
      short,
      about: '[9,"r"]',
      occurredMs: score,
      place,
      nowMs: score,
      listed: some(record)
    }),
    ['ZREMRANGEBYSCORE', 'given up', '-inf', `(${score}`],
    ['ZREMRANGEBYRANK', 'given up', '0', String(random.between(-4, 1))],
    ['GET', 'failing'],
    ['ZRANGE', 'given up', '0', '9', 'WITHSCORES'],
    ['ZRANGE', 'line', '0', '5', 'WITHSCORES'],
    ['ZRANGE', 'lines', '0', '0', 'WITHSCORES'],
    ['XLEN', random.pick(['journal', 'dead'])]
  ]
}

/** One stream only: two could have entries of the same moment, and with it of the same id. */
const STREAM = 'stream'

function oneOfTwo(random: Random): (name: string) => string {
  return name => `${name}${random.between(1, 2)}`
}

function anEntry(random: Random): string {
  return `#${random.between(0, 400)}`
}

function script(name: Parameters<typeof loadLua>[0], keys: readonly string[], args: readonly string[]): Step {
  return ['EVAL', loadLua(name), String(keys.length), ...keys, ...args]
}

/** One that gets its argument by name. */
function named(name: Parameters<typeof loadLua>[0], keys: readonly string[], given: object): Step {
  return script(name, keys, [JSON.stringify(given)])
}

/** `useRedis` has a connection inside tests only. */
function lazily(test: ReturnType<typeof useRedis>): { redis: () => ReturnType<typeof useRedis>['redis'] } {
  return { redis: () => test.redis }
}
