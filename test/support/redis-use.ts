/** What each user of a Redis made of its rights, as MONITOR reports it. MONITOR leaves out administrative commands. */
import { connect as connectTcp } from 'node:net'
import { createInterface } from 'node:readline'
import { connect, disconnect } from '../../redis/connection/connections.js'
import { commandsIn } from '../../redis/installation/acl-rights.js'
import { createLogger } from '../../runtime/log.js'
import { until } from './conditions.js'

/** What one user did. */
interface Use {
  /** Such as `get`, `xgroup` and `xgroup|create`. */
  readonly commands: Set<string>
  /** Keys and channels among them. */
  readonly words: Set<string>
  /** Hashes of scripts. */
  readonly scripts: Set<string>
}

export interface UseRecorder {
  /** The rules of a user that it made no use of: commands, and patterns of keys and channels. */
  unused(user: string, rules: readonly string[]): string[]
  /** Resolves when all that was done before is recorded, and whose connections those are that are still open. */
  settled(): Promise<void>
  /** The hashes of the scripts that a user ran. */
  scripts(user: string): ReadonlySet<string>
  stop(): Promise<void>
}

const NAMES_MS = 20
/** A key that the recorder alone reads. */
const MARK = 'mark-of-the-recorder'
const LINE = /^\+\S+ \[\d+ (\S+)\] (.*)$/

/** Records from now on. What a connection did that ends before its user is asked for is missed. */
export async function recordUse(url: string): Promise<UseRecorder> {
  const admin = await connect(url, 'commands', createLogger('test', 'silent'))
  const socket = connectTcp(Number(new URL(url).port), '127.0.0.1')
  const users = new Map<string, string>()
  const unnamed: { address: string; args: readonly string[] }[] = []
  const uses = new Map<string, Use>()
  let caller = ''
  let heard = 0
  createInterface(socket).on('line', line => {
    const [, source = '', text = ''] = LINE.exec(line) ?? []
    if (text.includes(MARK)) heard++
    // What a script runs follows the call of the script.
    if (source !== 'lua') caller = source
    const args = wordsIn(text)
    const user = users.get(caller)
    if (user === undefined) unnamed.push({ address: caller, args })
    else note(uses, user, args)
  })
  const learnNames = async (): Promise<void> => {
    const list = String(await admin.client('LIST'))
    for (const [, address = '', user = ''] of list.matchAll(/ addr=(\S+) .* user=(\S+)/g)) {
      // A connection belongs to `default` until it has logged in.
      if (user !== 'default') users.set(address, user)
    }
    for (const { address, args } of unnamed.splice(0)) {
      const user = users.get(address)
      if (user === undefined) unnamed.push({ address, args })
      else note(uses, user, args)
    }
    if (unnamed.length > UNNAMED_MAX) unnamed.splice(0, unnamed.length - UNNAMED_MAX)
  }
  let marks = 0
  const timer = setInterval(() => void learnNames().catch(() => undefined), NAMES_MS)
  socket.write('MONITOR\r\n')
  return {
    unused: (user, rules) => unusedOf(uses.get(user), rules),
    async settled() {
      const mark = ++marks
      await admin.get(MARK)
      await until('MONITOR has told all', () => heard >= mark)
      await learnNames()
    },
    scripts: user => uses.get(user)?.scripts ?? new Set(),
    async stop() {
      clearInterval(timer)
      socket.destroy()
      await disconnect(admin)
    }
  }
}

/** Of connections whose user is not known (yet). */
const UNNAMED_MAX = 20_000

function note(uses: Map<string, Use>, user: string, args: readonly string[]): void {
  const use = uses.get(user) ?? { commands: new Set(), words: new Set(), scripts: new Set() }
  uses.set(user, use)
  const [name = '', part = ''] = args.map(arg => arg.toLowerCase())
  use.commands.add(name).add(`${name}|${part}`)
  if (name === 'evalsha') use.scripts.add(part)
  for (const word of args.slice(1)) use.words.add(word)
}

function unusedOf(use: Use | undefined, rules: readonly string[]): string[] {
  const commands = commandsIn(rules).map(words => words.join('|').toLowerCase())
  const patterns = rules.filter(rule => /^([~&]|%R~|%W~)/.test(rule))
  const words = [...(use?.words ?? [])]
  return [
    ...commands.filter(name => !use?.commands.has(name)).map(name => `+${name}`),
    ...patterns.filter(rule => {
      const glob = globOf(rule.replace(/^(%[RW])?[~&]/, ''))
      return !words.some(word => glob.test(word))
    })
  ]
}

function globOf(pattern: string): RegExp {
  const parts = pattern.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}

function wordsIn(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word)
}
