/**
 * The data of one Redis server and the commands on it that the service uses, streams apart (redis-streams.ts).
 *
 * A model, and held to be a faithful one by test/simulation/redis-model.test.ts, which runs the same commands against
 * a real server. A command that is missing here throws: nothing is answered by guess.
 */
import type { Reply } from './lua.js'
import { ReplyError } from './lua-values.js'
import { setCommands } from './redis-sets.js'
import { createStream, type Stream, streamCommands } from './redis-streams.js'

export type Hash = Map<string, string>
export type List = string[]
export type SortedSet = Map<string, number>
export type Value =
  | { readonly type: 'string'; text: string }
  | { readonly type: 'hash'; readonly hash: Hash }
  | { readonly type: 'list'; readonly list: List }
  | { readonly type: 'zset'; readonly zset: SortedSet }
  | { readonly type: 'set'; readonly set: Set<string> }
  | { readonly type: 'stream'; readonly stream: Stream }

type Command = (data: RedisData, args: readonly string[]) => Reply

export class RedisData {
  readonly values = new Map<string, Value>()
  readonly expiries = new Map<string, number>()
  /** The server's clock (ms). */
  nowMs = 0

  /** Runs one command, its name first. */
  execute(args: readonly string[]): Reply {
    const name = (args[0] ?? '').toUpperCase()
    const command = commands[name]
    if (command === undefined) throw new Error(`The simulated Redis does not know ${name}: add it to the model.`)
    return command(this, args.slice(1))
  }

  find(key: string): Value | undefined {
    const expiry = this.expiries.get(key)
    if (expiry !== undefined && expiry <= this.nowMs) this.remove(key)
    return this.values.get(key)
  }

  remove(key: string): boolean {
    this.expiries.delete(key)
    return this.values.delete(key)
  }

  text(key: string): string | null {
    return this.#typed(key, 'string')?.text ?? null
  }

  hash(key: string): Hash | undefined {
    return this.#typed(key, 'hash')?.hash
  }

  list(key: string): List | undefined {
    return this.#typed(key, 'list')?.list
  }

  zset(key: string): SortedSet | undefined {
    return this.#typed(key, 'zset')?.zset
  }

  set(key: string): Set<string> | undefined {
    return this.#typed(key, 'set')?.set
  }

  ensureSet(key: string): Set<string> {
    const set = this.set(key) ?? new Set<string>()
    this.values.set(key, { type: 'set', set })
    return set
  }

  stream(key: string): Stream | undefined {
    return this.#typed(key, 'stream')?.stream
  }

  ensureStream(key: string): Stream {
    const found = this.stream(key)
    if (found !== undefined) return found
    const stream = createStream()
    this.values.set(key, { type: 'stream', stream })
    return stream
  }

  #typed<T extends Value['type']>(key: string, type: T): Extract<Value, { type: T }> | undefined {
    const value = this.find(key)
    if (value === undefined || isOfType(value, type)) return value
    throw new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value')
  }
}

function isOfType<T extends Value['type']>(value: Value, type: T): value is Extract<Value, { type: T }> {
  return value.type === type
}

const commands: Readonly<Record<string, Command>> = {
  PING: () => 'PONG',
  TIME: data => [String(Math.floor(data.nowMs / 1_000)), String(Math.floor((data.nowMs % 1_000) * 1_000))],
  GET: (data, [key = '']) => data.text(key),
  MGET: (data, keys) => keys.map(key => data.text(key)),
  INCR: (data, [key = '']) => {
    const count = Number(data.text(key) ?? 0) + 1
    data.values.set(key, { type: 'string', text: String(count) })
    return count
  },
  GETRANGE: (data, [key = '', start, end]) =>
    Buffer.from(data.text(key) ?? '')
      .subarray(Number(start), Number(end) + 1)
      .toString(),
  EXISTS: (data, keys) => keys.filter(key => data.find(key) !== undefined).length,
  SET: set,
  SETNX: (data, [key = '', text = '']) => (set(data, [key, text, 'NX']) === null ? 0 : 1),
  DEL: (data, keys) => keys.filter(key => data.find(key) !== undefined && data.remove(key)).length,
  UNLINK: (data, keys) => keys.filter(key => data.find(key) !== undefined && data.remove(key)).length,
  PTTL: (data, [key = '']) => {
    if (data.find(key) === undefined) return -2
    const expiry = data.expiries.get(key)
    return expiry === undefined ? -1 : Math.ceil(expiry - data.nowMs)
  },
  PEXPIRE: (data, [key = '', ms]) => {
    if (data.find(key) === undefined) return 0
    data.expiries.set(key, data.nowMs + Number(ms))
    return 1
  },
  HSET: (data, [key = '', ...pairs]) => {
    const hash = data.hash(key) ?? new Map<string, string>()
    data.values.set(key, { type: 'hash', hash })
    let added = 0
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      if (!hash.has(pairs[i] ?? '')) added++
      hash.set(pairs[i] ?? '', pairs[i + 1] ?? '')
    }
    return added
  },
  HSETNX: (data, [key = '', field = '', text = '']) => {
    if (data.hash(key)?.has(field)) return 0
    const hash = data.hash(key) ?? new Map<string, string>()
    data.values.set(key, { type: 'hash', hash })
    hash.set(field, text)
    return 1
  },
  HGET: (data, [key = '', field = '']) => data.hash(key)?.get(field) ?? null,
  HMGET: (data, [key = '', ...fields]) => fields.map(field => data.hash(key)?.get(field) ?? null),
  HDEL: (data, [key = '', ...fields]) => {
    const hash = data.hash(key)
    const removed = fields.filter(field => hash?.delete(field)).length
    if (hash?.size === 0) data.remove(key)
    return removed
  },
  RPUSH: (data, [key = '', ...items]) => {
    const list = data.list(key) ?? []
    data.values.set(key, { type: 'list', list })
    return list.push(...items)
  },
  LPOP: (data, [key = '']) => pop(data, key, list => list.shift()),
  RPOP: (data, [key = '']) => pop(data, key, list => list.pop()),
  LINDEX: (data, [key = '', index]) => data.list(key)?.at(Number(index)) ?? null,
  LSET: (data, [key = '', index, item = '']) => {
    const list = data.list(key)
    if (list?.at(Number(index)) === undefined) throw new Error('ERR no such key')
    list[Number(index)] = item
    return 'OK'
  },
  ZADD: (data, [key = '', ...args]) => {
    const option = args[0]?.toUpperCase()
    const isOption = option === 'XX' || option === 'NX' || option === 'LT'
    const pairs = isOption ? args.slice(1) : args
    const zset = data.zset(key) ?? new Map<string, number>()
    const sizeBefore = zset.size
    for (let place = 0; place < pairs.length; place += 2) {
      const [score = '', member = ''] = pairs.slice(place, place + 2)
      const before = zset.get(member)
      const isLater = option === 'LT' && before !== undefined && Number(score) >= before
      const isLeftOut = isLater || (before !== undefined ? option === 'NX' : option === 'XX')
      if (!isLeftOut) zset.set(member, Number(score))
    }
    if (zset.size > 0) data.values.set(key, { type: 'zset', zset })
    return zset.size - sizeBefore
  },
  ZCARD: (data, [key = '']) => data.zset(key)?.size ?? 0,
  ZCOUNT: (data, [key = '', min = '', max = '']) =>
    [...(data.zset(key)?.values() ?? [])].filter(score => isAbove(score, min) && isBelow(score, max)).length,
  ZREM: (data, [key = '', ...members]) => removeMembers(data, key, members),
  ZREMRANGEBYSCORE: (data, [key = '', min = '', max = '']) => {
    const rows = inOrder(data.zset(key)).filter(([, score]) => isAbove(score, min) && isBelow(score, max))
    return removeMembers(
      data,
      key,
      rows.map(([member]) => member)
    )
  },
  ZREMRANGEBYRANK: (data, [key = '', start, stop]) => {
    const rows = inOrder(data.zset(key))
    const rank = (text: string | undefined): number => (Number(text) < 0 ? rows.length + Number(text) : Number(text))
    const wanted = rows.slice(Math.max(0, rank(start)), Math.max(0, rank(stop) + 1))
    return removeMembers(
      data,
      key,
      wanted.map(([member]) => member)
    )
  },
  ZRANGE: (data, [key = '', start = '', stop = '', ...options]) => {
    if (options.includes('BYLEX')) {
      if (!options.includes('REV')) return limit(membersBetween(data, key, start, stop), options)
      return limit(membersBetween(data, key, stop, start).reverse(), options)
    }
    if (Number(start) < 0 || Number(stop) < -1) throw new ReplyError('ERR the simulation counts from the start only')
    const rows = inOrder(data.zset(key)).slice(Number(start), Number(stop) < 0 ? undefined : Number(stop) + 1)
    return replyOf(rows, options)
  },
  ZRANGEBYSCORE: zrangeByScore,
  ...setCommands,
  ...streamCommands
}

function set(data: RedisData, [key = '', text = '', ...options]: readonly string[]): Reply {
  const words = options.map(option => option.toUpperCase())
  if (words.includes('NX') && data.find(key) !== undefined) return null
  data.values.set(key, { type: 'string', text })
  const life = words.indexOf('PX')
  if (life >= 0) data.expiries.set(key, data.nowMs + Number(options[life + 1]))
  else if (!words.includes('KEEPTTL')) data.expiries.delete(key)
  return 'OK'
}

function zrangeByScore(data: RedisData, [key = '', min = '', max = '', ...options]: readonly string[]): Reply {
  const words = options.map(option => option.toUpperCase())
  const rows = inOrder(data.zset(key)).filter(([, score]) => isAbove(score, min) && isBelow(score, max))
  return replyOf(limit(rows, words), words)
}

function pop(data: RedisData, key: string, take: (list: List) => string | undefined): string | null {
  const list = data.list(key)
  const item = list === undefined ? undefined : take(list)
  if (list?.length === 0) data.remove(key)
  return item ?? null
}

function removeMembers(data: RedisData, key: string, members: readonly string[]): number {
  const zset = data.zset(key)
  const removed = members.filter(member => zset?.delete(member)).length
  if (zset?.size === 0) data.remove(key)
  return removed
}

type Row = readonly [member: string, score: number]

function inOrder(zset: SortedSet | undefined): readonly Row[] {
  return [...(zset ?? [])].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
}

function replyOf(rows: readonly Row[], options: readonly string[]): Reply {
  return options.includes('WITHSCORES')
    ? rows.flatMap(([member, score]) => [member, String(score)])
    : rows.map(([member]) => member)
}

function membersBetween(data: RedisData, key: string, min: string, max: string): string[] {
  const fits = (member: string): boolean =>
    (max === '+' || (max.startsWith('(') ? member < max.slice(1) : member <= max.slice(1))) &&
    (min === '-' || (min.startsWith('(') ? member > min.slice(1) : member >= min.slice(1)))
  return [...(data.zset(key)?.keys() ?? [])].filter(fits).sort()
}

function limit<T>(rows: readonly T[], words: readonly string[]): readonly T[] {
  const place = words.indexOf('LIMIT')
  if (place < 0) return rows
  const offset = Number(words[place + 1])
  const count = Number(words[place + 2])
  return rows.slice(offset, count < 0 ? undefined : offset + count)
}

function isAbove(score: number, bound: string): boolean {
  if (bound === '-inf') return true
  return bound.startsWith('(') ? score > Number(bound.slice(1)) : score >= Number(bound)
}

function isBelow(score: number, bound: string): boolean {
  if (bound === '+inf') return true
  return bound.startsWith('(') ? score < Number(bound.slice(1)) : score <= Number(bound)
}
