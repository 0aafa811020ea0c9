/** What a check of `operator doctor` found, and how checks are run. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import { adviceOn, type RedisVariable } from '../../../redis/connection/redis-errors.js'
import { createLogger } from '../../../runtime/log.js'
import { messageOf } from '../../../runtime/message-of.js'
import { withTimeout } from '../../../runtime/with-timeout.js'

export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warning' | 'problem' | 'not checked'
  readonly found: string
  /** What to do; null where all is well. */
  readonly mend: string | null
}

/** So many of a list are named. */
const NAMED_MAX = 5

/** The first of a list, and how many more there are. */
export function firstOf(names: readonly string[], separator = ', '): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : ''
  return `${names.slice(0, NAMED_MAX).join(separator)}${more}`
}

/** How long a connection may take (ms). */
const CONNECT_TIMEOUT_MS = 5_000
/** A check that takes longer is a problem (ms). */
const CHECK_TIMEOUT_MS = 15_000

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, mend: null }
}

const fault =
  (state: Finding['state']) =>
  (check: string, found: string, mend: string): Finding => ({ check, state, found, mend })

export const problem = fault('problem')
export const warning = fault('warning')
export const notChecked = fault('not checked')

/** `problem`, or `ok` without a sentence. */
export function judged(check: string, sentence: string | undefined, whenWell: string, mend: string): Finding {
  return sentence === undefined ? ok(check, whenWell) : problem(check, sentence, mend)
}

/** The faults of a check, or `ok` without any. A fault that does not apply is false or undefined. */
export function verdict(check: string, whenWell: string, ...faults: (Finding | false | undefined)[]): Finding[] {
  const found = faults.filter(fault => fault !== false && fault !== undefined)
  return found.length > 0 ? found : [ok(check, whenWell)]
}

/** The socket, when it has this event. Rejects with its error, and when that takes too long. */
export async function connected<S extends Socket>(socket: S, event: 'connect' | 'secureConnect'): Promise<S> {
  socket.setTimeout(CONNECT_TIMEOUT_MS, () =>
    socket.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`))
  )
  await once(socket, event)
  return socket
}

/**
 * Does `work` with connections to one kind of Redis, which end with it: of the role that waits longest, also for the memory-only
 * one, since an operator can wait, and thousands of questions about rights wait for each other.
 */
export async function withConnections<T>(
  variable: RedisVariable,
  work: (connectTo: (url: string) => Promise<Redis>) => Promise<T>
): Promise<T> {
  const log = createLogger('operator', 'silent')
  const connections: Redis[] = []
  const connectTo = async (url: string): Promise<Redis> => {
    const redis = await connect(url, 'commands', log, variable, CONNECT_TIMEOUT_MS)
    connections.push(redis)
    return redis
  }
  try {
    return await work(connectTo)
  } finally {
    await Promise.all(connections.map(disconnect))
  }
}

/** Runs one check. What it throws is a problem with this mend, which may depend on the message. Never rejects. */
export async function attempt(
  check: string,
  mend: string | ((message: string) => string),
  work: () => Promise<Finding | readonly Finding[]>
): Promise<Finding[]> {
  try {
    return [await withTimeout(CHECK_TIMEOUT_MS, work())].flat()
  } catch (error) {
    const message = messageOf(error)
    return [problem(check, message, typeof mend === 'string' ? mend : mend(message))]
  }
}

/** What to do when a message is about the certificate of a Redis; undefined: it is not. */
export function mendOfCertificate(message: string): string | undefined {
  return /certificate|issuer/.test(message) ? adviceOn(message) : undefined
}
