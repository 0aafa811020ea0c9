/** Commands and scripts at random, for the model of Redis and a real server. An entry of a stream is `#<number>`. */
import type { Random } from './random.js'
import { scriptSteps, webhookSteps } from './script-steps.js'
import { anEntry, oneOfTwo, STREAM, type Step, type Steps } from './steps.js'

/** The next command or script, on a handful of keys so that they meet each other's data. */
export function nextStep(random: Random): Step {
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
