/** Streams and their consumer groups, as far as the command path and the webhooks use them. */
import type { Reply } from './lua.js'
import { ReplyError } from './lua-values.js'

export interface Pending {
  consumer: string
  atMs: number
  times: number
}

export interface Group {
  lastId: string
  readonly pending: Map<string, Pending>
  readonly consumers: Map<string, { seenMs: number }>
}

export interface Stream {
  readonly entries: Map<string, readonly string[]>
  lastId: string
  readonly groups: Map<string, Group>
}

/** What these commands need of the data of a server. */
interface Streams {
  /** The server's clock (ms). */
  readonly nowMs: number
  stream(key: string): Stream | undefined
  ensureStream(key: string): Stream
}

export function createStream(): Stream {
  return { entries: new Map(), lastId: '0-0', groups: new Map() }
}

/** How long a read may wait for entries (ms); null: not at all. */
export function blockMsOf(args: readonly string[]): number | null {
  return parseRead(args).blockMs
}

/** Entries behind the given ids; null when there are none. */
function readStreams(data: Streams, { keys, ids, count }: StreamRead): Reply {
  const found = keys.flatMap((key, index): Reply[] => {
    const after = ids[index] ?? '0'
    const rows = [...(data.stream(key)?.entries ?? [])].filter(([id]) => isAfter(id, after)).slice(0, count)
    return rows.length === 0 ? [] : [[key, rows]]
  })
  return found.length === 0 ? null : found
}

/** Hands new entries of the streams to a consumer; null when there are none. */
function readGroup(data: Streams, request: GroupRead): Reply {
  const found: Reply[] = []
  for (const [index, key] of request.keys.entries()) {
    const stream = data.stream(key)
    const group = stream?.groups.get(request.group)
    if (stream === undefined || group === undefined) {
      throw new ReplyError(`NOGROUP No such key '${key}' or consumer group '${request.group}'`)
    }
    noteConsumer(data, group, request.consumer)
    const rows =
      request.ids[index] === '>'
        ? newEntries(data, stream, group, request)
        : ownEntries(data, stream, group, request, request.ids[index] ?? '0')
    if (rows.length > 0 || request.ids[index] !== '>') found.push([key, rows])
  }
  return found.length === 0 ? null : found
}

interface StreamRead {
  readonly count: number
  readonly blockMs: number | null
  readonly keys: readonly string[]
  readonly ids: readonly string[]
}

interface GroupRead extends StreamRead {
  readonly group: string
  readonly consumer: string
}

/** Reads what XREAD and XREADGROUP have in common. */
function parseRead(args: readonly string[]): StreamRead {
  const streams = placeOf('STREAMS', args)
  const rest = args.slice(streams + 1)
  const option = (name: string): string | undefined => {
    const place = placeOf(name, args, streams)
    return place < 0 ? undefined : args[place + 1]
  }
  const block = option('BLOCK')
  return {
    count: Number(option('COUNT') ?? Number.MAX_SAFE_INTEGER),
    blockMs: block === undefined ? null : Number(block),
    keys: rest.slice(0, rest.length / 2),
    ids: rest.slice(rest.length / 2)
  }
}

/** Where a word of a command stands, before the place `end`; -1: nowhere. */
function placeOf(word: string, args: readonly string[], end = args.length): number {
  for (let place = 0; place < end; place++) {
    const arg = args[place]
    if (arg?.length === word.length && arg.toUpperCase() === word) return place
  }
  return -1
}

function parseGroupRead(args: readonly string[]): GroupRead {
  const place = placeOf('GROUP', args)
  return { ...parseRead(args), group: args[place + 1] ?? '', consumer: args[place + 2] ?? '' }
}

function newEntries(data: Streams, stream: Stream, group: Group, request: GroupRead): Reply[] {
  const rows: Reply[] = []
  for (const [id, fields] of stream.entries) {
    if (rows.length >= request.count) break
    if (!isAfter(id, group.lastId)) continue
    group.lastId = id
    group.pending.set(id, { consumer: request.consumer, atMs: data.nowMs, times: 1 })
    rows.push([id, fields])
  }
  return rows
}

function ownEntries(data: Streams, stream: Stream, group: Group, request: GroupRead, after: string): Reply[] {
  const rows: Reply[] = []
  for (const [id, pending] of pendingInOrder(group)) {
    if (rows.length >= request.count) break
    if (pending.consumer !== request.consumer || !isAfter(id, after)) continue
    const isThere = stream.entries.has(id)
    if (isThere) pending.times++
    if (isThere) pending.atMs = data.nowMs
    rows.push([id, stream.entries.get(id) ?? null])
  }
  return rows
}

/** What is delivered again, after a group was set back, has no place at the end. */
function pendingInOrder({ pending }: Group): [string, Pending][] {
  return [...pending].sort(([a], [b]) => (isAfter(a, b) ? 1 : -1))
}

function noteConsumer(data: Streams, group: Group, name: string): void {
  const consumer = group.consumers.get(name)
  if (consumer === undefined) group.consumers.set(name, { seenMs: data.nowMs })
  else consumer.seenMs = data.nowMs
}

/** Whether one id is later than another. */
function isAfter(id: string, other: string): boolean {
  const [ms, count] = parts(id)
  const [otherMs, otherCount] = parts(other)
  return ms > otherMs || (ms === otherMs && count > otherCount)
}

function parts(id: string): [number, number] {
  const [ms = '0', count = '0'] = id.split('-')
  return [Number(ms), Number(count)]
}

export const streamCommands: Readonly<Record<string, (data: Streams, args: readonly string[]) => Reply>> = {
  XADD: (data, [key = '', ...args]) => {
    const [id = '', ...fields] = withoutTrimming(args)
    const stream = data.ensureStream(key)
    const [lastMs, lastCount] = parts(stream.lastId)
    const ms = Math.max(Math.floor(data.nowMs), lastMs)
    if (id !== '*') throw new ReplyError('ERR the simulation adds entries with * only')
    const newId = `${ms}-${ms === lastMs ? lastCount + 1 : 0}`
    stream.entries.set(newId, fields)
    stream.lastId = newId
    return newId
  },
  XLEN: (data, [key = '']) => data.stream(key)?.entries.size ?? 0,
  XDEL: (data, [key = '', ...ids]) => ids.filter(id => data.stream(key)?.entries.delete(id)).length,
  XACK: (data, [key = '', group = '', ...ids]) =>
    ids.filter(id => data.stream(key)?.groups.get(group)?.pending.delete(id)).length,
  XRANGE: (data, [key = '', start = '', end = '']) =>
    [...(data.stream(key)?.entries ?? [])]
      .filter(([id]) => (start === '-' || !isAfter(start, id)) && (end === '+' || !isAfter(id, end)))
      .map(([id, fields]) => [id, fields]),
  XTRIM: (data, [key = '', ...args]) => trim(data.stream(key), args),
  XGROUP: (data, [verb = '', ...args]) => {
    const change = groupChanges[verb.toUpperCase()]
    if (change === undefined) throw new ReplyError(`ERR the simulation does not know XGROUP ${verb}`)
    if (change !== createGroup && data.stream(args[0] ?? '') === undefined)
      throw new ReplyError('ERR The XGROUP subcommand requires the key to exist')
    return change(data, args)
  },
  XREAD: (data, args) => readStreams(data, parseRead(args)),
  XREADGROUP: (data, args) => readGroup(data, parseGroupRead(args)),
  XPENDING: (data, [key = '', name = '', ...options]) => {
    const group = groupOf(data, key, name)
    const isIdleGiven = options[0]?.toUpperCase() === 'IDLE'
    // The clock may have been set back since the delivery: without IDLE, what seems to come later is found, too.
    const idleMs = isIdleGiven ? Number(options[1]) : Number.NEGATIVE_INFINITY
    const [start = '-', end = '+', count = '0', consumer] = isIdleGiven ? options.slice(2) : options
    const isFrom = (id: string): boolean =>
      start === '-' || (start.startsWith('(') ? isAfter(id, start.slice(1)) : !isAfter(start, id))
    return pendingInOrder(group)
      .filter(([id]) => isFrom(id) && (end === '+' || !isAfter(id, end)))
      .filter(([, row]) => consumer === undefined || row.consumer === consumer)
      .filter(([, row]) => data.nowMs - row.atMs >= idleMs)
      .slice(0, Number(count))
      .map(([id, row]) => [id, row.consumer, Math.floor(data.nowMs - row.atMs), row.times])
  },
  XINFO: (data, [what = '', key = '', name = '']) => {
    if (what.toUpperCase() === 'GROUPS') return groupRows(data.stream(key))
    if (what.toUpperCase() !== 'CONSUMERS') throw new ReplyError(`ERR the simulation does not know XINFO ${what}`)
    const group = groupOf(data, key, name)
    return [...group.consumers].map(([consumer, { seenMs }]) => [
      'name',
      consumer,
      'pending',
      [...group.pending.values()].filter(row => row.consumer === consumer).length,
      'idle',
      Math.floor(data.nowMs - seenMs)
    ])
  }
}

/** `~` leaves it to the server when to trim; one that has less than a node of a hundred entries to trim never does. */
function withoutTrimming(args: readonly string[]): readonly string[] {
  const isTrimming = args[0] === 'MAXLEN' || args[0] === 'MINID'
  if (isTrimming && args[1] !== '~') throw new ReplyError('ERR the simulation trims no stream')
  return isTrimming ? args.slice(3) : args
}

function groupOf(data: Streams, key: string, name: string): Group {
  const group = data.stream(key)?.groups.get(name)
  if (group === undefined) throw new ReplyError(`NOGROUP No such key '${key}' or consumer group '${name}'`)
  return group
}

function createGroup(data: Streams, [key = '', name = '', start = '']: readonly string[]): Reply {
  const stream = data.ensureStream(key)
  if (stream.groups.has(name)) throw new ReplyError('BUSYGROUP Consumer Group name already exists')
  stream.groups.set(name, { lastId: start === '$' ? stream.lastId : '0-0', pending: new Map(), consumers: new Map() })
  return 'OK'
}

function groupRows(stream: Stream | undefined): Reply {
  if (stream === undefined) throw new ReplyError('ERR no such key')
  return [...stream.groups].map(([name, { consumers, pending, lastId }]) => [
    ...['name', name, 'consumers', consumers.size, 'pending', pending.size, 'last-delivered-id', lastId]
  ])
}

/** MAXLEN only, exactly. What is pending stays pending. */
function trim(stream: Stream | undefined, [how = '', most = '']: readonly string[]): number {
  if (how !== 'MAXLEN') throw new ReplyError(`ERR the simulation does not trim by ${how}`)
  const ids = [...(stream?.entries.keys() ?? [])]
  const gone = ids.slice(0, Math.max(0, ids.length - Number(most)))
  for (const id of gone) stream?.entries.delete(id)
  return gone.length
}

const groupChanges: Readonly<Record<string, (data: Streams, args: readonly string[]) => Reply>> = {
  CREATE: createGroup,
  DELCONSUMER: dropConsumer,
  DESTROY: (data, [key = '', name = '']) => (data.stream(key)?.groups.delete(name) ? 1 : 0),
  SETID: (data, [key = '', name = '', id = '']) => {
    const group = groupOf(data, key, name)
    group.lastId = id === '$' ? (data.stream(key)?.lastId ?? '0-0') : id === '0' ? '0-0' : id
    return 'OK'
  }
}

/** What the consumer holds is forgotten, as in Redis: it stays in the stream and is never delivered again. */
function dropConsumer(data: Streams, [key = '', name = '', consumer = '']: readonly string[]): Reply {
  const group = groupOf(data, key, name)
  const held = [...group.pending].filter(([, row]) => row.consumer === consumer)
  for (const [id] of held) group.pending.delete(id)
  group.consumers.delete(consumer)
  return held.length
}
