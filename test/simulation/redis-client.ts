/**
 * A client of a simulated Redis server that looks like ioredis to the code under test: the same methods, the same
 * errors, and for each role what redis/connection/connections.ts asks of the real one.
 */
import type { Redis } from '../../redis/connection/connections.js'
import { type Faults, strike } from './faults.js'
import type { Reply } from './lua.js'
import type { BlockedReader, RedisServer } from './redis-server.js'
import type { Process, ScheduledEvent, World } from './world.js'

export type ClientRole = 'commands' | 'blocking' | 'subscriber' | 'lock'

/** As in redis/connection/connections.ts. */
const TIMEOUT_MS: Record<ClientRole, number> = {
  commands: 5_000,
  lock: 1_000,
  blocking: Number.POSITIVE_INFINITY,
  subscriber: Number.POSITIVE_INFINITY
}
const RECONNECT_MS = 100
const LATENCY_MEAN_MS = 0.6
const HANDOUT_WEIGHT = 8
const PAYMENT_WEIGHT = 8

interface Request {
  readonly args: readonly string[]
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  isSettled: boolean
  /** The connection that it went out on; an answer on another one is not heard. */
  epoch: number
  reader: BlockedReader | null
  /** Its time limit. */
  limit: ScheduledEvent | null
}

export class RedisClient {
  readonly #world: World
  readonly #server: RedisServer
  readonly #process: Process
  readonly #role: ClientRole
  readonly #faults: Faults
  readonly #pending = new Set<Request>()
  readonly #channels = new Map<string, () => void>()
  #listener: ((channel: string, message: string) => void) | undefined
  #epoch = 0
  #arrivalMs = 0
  #answerMs = 0

  constructor(world: World, faults: Faults, server: RedisServer, process: Process, role: ClientRole) {
    this.#world = world
    this.#faults = faults
    this.#server = server
    this.#process = process
    this.#role = role
    server.connect(this.#onCut)
    process.onDeath(() => this.#close())
  }

  send(args: readonly string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const request: Request = {
        args,
        resolve,
        reject,
        isSettled: false,
        epoch: this.#epoch,
        reader: null,
        limit: null
      }
      if (strike(this.#world, this.#faults, this.#process, () => `before ${describe(args)}`)) return
      this.#pending.add(request)
      if (this.#server.isDown) this.#refuse(request)
      else this.#dispatch(request)
      const limitMs = TIMEOUT_MS[this.#role]
      if (Number.isFinite(limitMs)) {
        request.limit = this.#world.after(limitMs, this.#process, () => {
          this.#settle(request, new Error('Command timed out'))
        })
      }
    })
  }

  subscribe(channel: string): Promise<number> {
    const hear = (from: string, message: string): void => {
      this.#world.after(this.#latencyMs(), this.#process, () => this.#listener?.(from, message))
    }
    this.#channels.set(channel, () => this.#server.subscribe(channel, hear))
    const stop = this.#server.subscribe(channel, hear)
    this.#process.onDeath(() => stop())
    return Promise.resolve(1)
  }

  on(event: string, listener: (channel: string, message: string) => void): void {
    if (event === 'message') this.#listener = listener
  }

  #dispatch(request: Request): void {
    request.epoch = this.#epoch
    this.#arrivalMs = Math.max(this.#arrivalMs, this.#world.nowMs + this.#latencyMs())
    this.#world.after(this.#arrivalMs - this.#world.nowMs, null, () => this.#arrive(request))
  }

  #arrive(request: Request): void {
    const { random } = this.#world
    if (request.epoch !== this.#epoch || this.#server.isDown) return
    if (this.#server.stalledUntilMs > this.#world.nowMs) {
      this.#arrivalMs = Math.max(this.#arrivalMs, this.#server.stalledUntilMs)
      this.#world.after(this.#server.stalledUntilMs - this.#world.nowMs, null, () => this.#arrive(request))
      return
    }
    if (this.#process.isDead && random.chance(0.5)) return
    const isCut = this.#role !== 'subscriber' && !this.#process.isSafe && random.chance(this.#faults.cut)
    if (isCut && random.chance(0.5)) {
      this.#breakConnection('before', request)
      return
    }
    request.reader = this.#server.execute(request.args, reply => this.#answer(request, reply))
    if (isCut) this.#breakConnection('after', request)
  }

  #answer(request: Request, reply: Reply | Error): void {
    const { epoch } = request
    this.#answerMs = Math.max(this.#answerMs, this.#world.nowMs + this.#latencyMs())
    this.#world.after(this.#answerMs - this.#world.nowMs, this.#process, () => {
      if (epoch !== this.#epoch || request.isSettled) return
      if (
        strike(
          this.#world,
          this.#faults,
          this.#process,
          () => `after ${describe(request.args)}`,
          weightOf(request, reply)
        )
      )
        return
      this.#settle(request, reply)
    })
  }

  #settle(request: Request, reply: Reply | Error): void {
    if (request.isSettled) return
    request.isSettled = true
    if (request.limit !== null) request.limit.isCancelled = true
    this.#pending.delete(request)
    this.#world.trace('redis', () => `${describe(request.args)} -> ${short(reply)}`)
    if (reply instanceof Error) request.reject(reply)
    else request.resolve(reply)
  }

  #breakConnection(when: string, request: Request): void {
    this.#world.note('cut', `${this.#process.name} ${when} ${describe(request.args)}`)
    this.#server.disconnect(this.#onCut)
    this.#onCut()
  }

  /** Everything in flight is lost with the connection; what the role resends goes out on the next one. */
  readonly #onCut = (): void => {
    this.#epoch++
    for (const request of [...this.#pending]) {
      if (request.reader !== null) request.reader.isGone = true
      if (this.#role === 'blocking' || this.#role === 'subscriber') continue
      this.#world.after(0, this.#process, () => this.#settle(request, new Error('Connection is closed.')))
    }
    this.#world.after(RECONNECT_MS, this.#process, () => this.#reconnect())
  }

  #reconnect(): void {
    if (this.#server.isDown) {
      this.#world.after(RECONNECT_MS, this.#process, () => this.#reconnect())
      return
    }
    this.#server.connect(this.#onCut)
    for (const resubscribe of this.#channels.values()) resubscribe()
    for (const request of this.#pending) if (request.epoch !== this.#epoch) this.#dispatch(request)
  }

  #refuse(request: Request): void {
    request.epoch = -1
    if (this.#role === 'blocking' || this.#role === 'subscriber') return
    const error = new Error("Stream isn't writeable and enableOfflineQueue options is false")
    this.#world.after(0, this.#process, () => this.#settle(request, error))
  }

  /** The server notifications a dead client after a while; until then it may deliver entries to the dead client. */
  #close(): void {
    this.#server.disconnect(this.#onCut)
    for (const { reader } of this.#pending) {
      if (reader === null) continue
      this.#world.after(this.#world.random.exponential(300), null, () => {
        reader.isGone = true
      })
    }
  }

  #latencyMs(): number {
    return this.#world.random.exponential(LATENCY_MEAN_MS)
  }
}

/** The client as the code under test sees it: every command is a method. */
export function asRedis(client: RedisClient): Redis {
  const own: Record<string, unknown> = {
    on: (event: string, listener: () => void) => client.on(event, listener),
    subscribe: (channel: string) => client.subscribe(channel),
    multi: () => transaction(client),
    call: (...words: unknown[]) => client.send(wordsIn(words)),
    // A client that is looked at by `await` must not seem to be a promise.
    // biome-ignore lint/suspicious/noThenProperty: says that there is none
    then: undefined
  }
  return new Proxy(own, {
    get: (target, name) => {
      if (typeof name === 'symbol' || name in target) return target[String(name)]
      const command = name.toUpperCase()
      target[name] = (...args: unknown[]) => client.send([command, ...wordsIn(args)])
      return target[name]
    }
  }) as unknown as Redis
}

/** Arguments as ioredis takes them: texts, numbers, and lists of both. Much faster than `flat`. */
function wordsIn(args: readonly unknown[]): string[] {
  const words: string[] = []
  for (const arg of args) {
    if (!Array.isArray(arg)) words.push(String(arg))
    else for (const word of arg) words.push(String(word))
  }
  return words
}

/** MULTI as the code under test uses it: a chain of commands, and one EXEC. */
function transaction(client: RedisClient): unknown {
  const queued: string[][] = []
  const exec = async (): Promise<[null, Reply][]> => {
    const replies: [null, Reply][] = []
    for (const args of queued) replies.push([null, await client.send(args)])
    return replies
  }
  const chain: unknown = new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === 'exec') return exec
        return (key: string, ...args: unknown[]) => {
          queued.push([String(name).toUpperCase(), key, ...args.flatMap(wordsOf)])
          return chain
        }
      }
    }
  )
  return chain
}

function wordsOf(arg: unknown): string[] {
  return typeof arg === 'object' && arg !== null ? Object.entries(arg).flat().map(String) : [String(arg)]
}

/**
 * Most answers of a read say that there is nothing; those that hand out commands are the moments that matter. So are
 * those with a payment: what is decided next rests on what may not be true any more.
 */
function weightOf({ args: [name, key = ''] }: Request, reply: Reply | Error): number {
  if (name === 'XREADGROUP') return reply === null ? 1 : HANDOUT_WEIGHT
  return name === 'GET' && key.includes(':pay:') ? PAYMENT_WEIGHT : 1
}

/** A command in a trace: its name and keys, without what may be long. */
function describe(args: readonly string[]): string {
  const [name = '', ...rest] = args
  if (name !== 'EVALSHA' && name !== 'EVAL') return [name, ...rest.slice(0, 2)].join(' ').slice(0, 80)
  return `${name} ${rest[0]?.slice(0, 6)} ${rest.slice(2, 2 + Number(rest[1])).join(' ')}`
    .replaceAll('\n', ' ')
    .slice(0, 120)
}

function short(reply: Reply | Error): string {
  return (reply instanceof Error ? reply.message : JSON.stringify(reply)).slice(0, 700)
}
