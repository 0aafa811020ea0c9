/**
 * One Redis server of the world: executes commands one after the other, keeps blocked readers waiting, publishes,
 * dies and comes back, with its data (the durable one) or without (the memory-only one).
 */
import { createHash } from 'node:crypto'
import { type Reply, runLua } from './lua.js'
import { ReplyError } from './lua-values.js'
import { RedisData } from './redis-data.js'
import { blockMsOf } from './redis-streams.js'
import type { World } from './world.js'

/** How far a replica is behind (ms, on average). */
const REPLICA_LAG_MS = 3

/** Called with each command that a client or a script runs, before it runs. Throws to say that something is wrong. */
export type Watch = (args: readonly string[], data: RedisData) => void

/** A reader that waits for entries. It is gone when the server has noticed that its client is gone. */
export interface BlockedReader {
  readonly args: readonly string[]
  readonly answer: (reply: Reply | Error) => void
  isGone: boolean
}

export interface ServerOptions {
  readonly name: string
  readonly isDurable: boolean
  /** Keeps all that it executes, for `failOver`. */
  readonly hasReplica?: boolean
  /** Exchanges the text of a script: how mistakes are planted. */
  readonly mutate?: (script: string) => string
}

export class RedisServer {
  data = new RedisData()
  isDown = false
  /** Down until further notification: `restart` does nothing. */
  isLost = false
  /** A slow disk: commands wait until then (ms of the world). */
  stalledUntilMs = 0
  /** What its clock is ahead of the world's (ms). */
  clockAheadMs = 0
  watch: Watch = () => undefined
  readonly options: ServerOptions
  readonly #world: World
  readonly #scripts = new Map<string, string>()
  readonly #blocked: BlockedReader[] = []
  readonly #subscribers = new Map<string, Set<(channel: string, message: string) => void>>()
  readonly #connections = new Set<() => void>()
  /** Whether a stream has got an entry that blocked readers have not been offered yet. */
  #hasGrown = false
  readonly #log: { atMs: number; args: readonly string[] }[] = []
  /** How many commands of the log a WAIT has confirmed. */
  #confirmed = 0

  constructor(world: World, options: ServerOptions) {
    this.#world = world
    this.options = options
  }

  /** Executes what a client sent. A blocking read answers later; everything else at once. */
  execute(args: readonly string[], answer: (reply: Reply | Error) => void): BlockedReader | null {
    try {
      const name = (args[0] ?? '').toUpperCase()
      if (name === 'WAIT') return this.#wait(answer)
      this.#keep(args)
      if (name === 'XREADGROUP' || name === 'XREAD') return this.#read(args, answer)
      answer(this.#run(name, args))
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      // Nothing ran: it would run on a replica, which has the script from before.
      if (this.options.hasReplica && error.message.startsWith('NOSCRIPT')) this.#log.pop()
      answer(error)
    }
    this.#serveBlocked()
    return null
  }

  /** Tells `cut` when the server dies. */
  connect(cut: () => void): void {
    this.#connections.add(cut)
  }

  disconnect(cut: () => void): void {
    this.#connections.delete(cut)
  }

  subscribe(channel: string, hear: (channel: string, message: string) => void): () => void {
    const all = this.#subscribers.get(channel) ?? new Set()
    this.#subscribers.set(channel, all)
    all.add(hear)
    return () => all.delete(hear)
  }

  kill(): void {
    this.isDown = true
    this.#blocked.length = 0
    this.#subscribers.clear()
    for (const cut of [...this.#connections]) cut()
    this.#connections.clear()
    // Scripts are not part of the data: after a start every EVALSHA is answered with NOSCRIPT.
    this.#scripts.clear()
    if (!this.options.isDurable) this.data = new RedisData()
  }

  restart(): void {
    this.isDown = this.isLost
  }

  /** A replica takes over that has not got the last `count` commands, as far as no WAIT has confirmed them. */
  failOver(count: number): void {
    const kept = this.#log.slice(0, Math.max(this.#confirmed, this.#log.length - count))
    this.kill()
    this.data = new RedisData()
    this.#log.length = 0
    const { watch } = this
    this.watch = () => undefined
    for (const { atMs, args } of kept) {
      this.#log.push({ atMs, args })
      try {
        if (args[0] === 'PUBLISH') continue
        this.#run((args[0] ?? '').toUpperCase(), args, atMs)
      } catch (error) {
        if (!(error instanceof ReplyError)) throw error
      }
    }
    this.watch = watch
    this.restart()
  }

  /** The replica is a little behind, and has by then what was written when it was asked. */
  #wait(answer: (reply: Reply) => void): null {
    const [written, master] = [this.#log.length, this.data]
    this.#world.after(this.#world.random.exponential(REPLICA_LAG_MS), null, () => {
      if (this.isDown || this.data !== master) return
      this.#confirmed = Math.max(this.#confirmed, written)
      answer(1)
    })
    return null
  }

  #keep(args: readonly string[]): void {
    if (this.options.hasReplica) this.#log.push({ atMs: this.#clockMs, args })
  }

  get #clockMs(): number {
    return this.#world.nowMs + this.clockAheadMs
  }

  #run(name: string, args: readonly string[], atMs = this.#clockMs): Reply {
    this.data.nowMs = atMs
    if (name === 'EVALSHA' || name === 'EVAL') return this.#runScript(name, args)
    return this.#command(args)
  }

  #runScript(name: string, [, script = '', count = '0', ...rest]: readonly string[]): Reply {
    const hash = name === 'EVAL' ? createHash('sha1').update(script).digest('hex') : script
    if (name === 'EVAL') this.#scripts.set(hash, this.options.mutate?.(script) ?? script)
    const text = this.#scripts.get(hash)
    if (text === undefined) throw new ReplyError('NOSCRIPT No matching script. Please use EVAL.')
    const keys = rest.slice(0, Number(count))
    return runLua(text, keys, rest.slice(Number(count)), args => this.#command(args))
  }

  #command(args: readonly string[]): Reply {
    if ((args[0] ?? '').toUpperCase() === 'PUBLISH') return this.#publish(args[1] ?? '', args[2] ?? '')
    this.watch(args, this.data)
    if (args[0] === 'XADD' || args[0] === 'XGROUP') this.#hasGrown = true
    return this.data.execute(args)
  }

  #publish(channel: string, message: string): number {
    const all = this.#subscribers.get(channel)
    for (const hear of all ?? []) hear(channel, message)
    return all?.size ?? 0
  }

  #read(args: readonly string[], answer: (reply: Reply | Error) => void): BlockedReader | null {
    this.data.nowMs = this.#clockMs
    const found = this.data.execute(args)
    const blockMs = blockMsOf(args)
    if (found !== null || blockMs === null) {
      answer(found)
      return null
    }
    const reader: BlockedReader = { args, answer, isGone: false }
    this.#blocked.push(reader)
    // A moment of the wall clock, as on a real server: one that is set back keeps its readers waiting.
    const untilMs = this.#clockMs + blockMs
    const giveUp = (): void => {
      if (!this.#blocked.includes(reader)) return
      if (this.#clockMs < untilMs) return void this.#world.after(untilMs - this.#clockMs, null, giveUp)
      this.#blocked.splice(this.#blocked.indexOf(reader), 1)
      if (!reader.isGone) answer(null)
    }
    this.#world.after(blockMs, null, giveUp)
    return reader
  }

  #serveBlocked(): void {
    if (!this.#hasGrown) return
    this.#hasGrown = false
    for (const reader of [...this.#blocked]) {
      const found = reader.isGone ? null : this.#readAgain(reader.args)
      if (found === null && !reader.isGone) continue
      this.#blocked.splice(this.#blocked.indexOf(reader), 1)
      if (found === null) continue
      this.#keep(reader.args)
      reader.answer(found)
    }
  }

  /** A reader whose group is gone hears so. */
  #readAgain(args: readonly string[]): Reply | Error {
    try {
      return this.data.execute(args)
    } catch (error) {
      if (error instanceof ReplyError) return error
      throw error
    }
  }
}
