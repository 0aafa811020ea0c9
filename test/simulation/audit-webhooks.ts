/**
 * Invariant 6: each change of status has its event, once, and the merchant gets it: at least once, in order per
 * payment, the same to the byte whenever it comes.
 */
import { encodeEvent } from '../../contract/webhook-event.js'
import type { Payment } from '../../machines/model.js'
import { paymentKeyOf } from '../../redis/keys.js'
import { decodeQueued } from '../../redis/webhooks/webhook-event.js'
import type { Receivers } from './receivers.js'
import type { RedisServer } from './redis-server.js'

/** Where webhook events are: written, left and arrived. */
interface Traces {
  readonly installation: {
    readonly written: WrittenEvents
    readonly durable: RedisServer
    readonly receivers: Receivers
  }
}

interface WrittenEvent {
  readonly status: string
  readonly body: string
}

/** The changes of status that commits appended to the events of their payments, also those that were delivered since. */
export class WrittenEvents {
  /** By payment (payment key), in the order of writing: the status, and the body that the merchant must get. */
  readonly #changes = new Map<string, WrittenEvent[]>()

  /** Looks at one command that a server runs. */
  note([name, key = '', stored = '']: readonly string[]): void {
    if (name !== 'RPUSH') return
    const [, paymentKey] = /:hookfifo:(.*)$/.exec(key) ?? []
    if (paymentKey === undefined) return
    const event = decodeQueued(stored)
    const written = { status: event.change.status, body: encodeEvent(event) }
    this.#changes.set(paymentKey, [...this.of(paymentKey), written])
  }

  of(paymentKey: string): readonly WrittenEvent[] {
    return this.#changes.get(paymentKey) ?? []
  }
}

/** The statuses that lines of a history lead through, after `before`. */
function changesIn(lines: Payment['history'], before: string | undefined): string {
  const lived = lines.map(line => line.status)
  return lived.filter((status, index) => status !== (index === 0 ? before : lived[index - 1])).join()
}

export function auditWebhooks({ installation }: Traces, payment: Payment): string[] {
  // A change that a failover takes back may have been sent: it comes again, and its event too.
  if (installation.durable.options.hasReplica) return []
  const { id } = payment.terms
  const written = installation.written.of(paymentKeyOf(id))
  const told = statusesOf(written)
  // A long history leaves lines out after its beginning.
  const gap = payment.history.findIndex(({ event }) => event === 'LEFT_OUT')
  const [first, rest] = gap < 0 ? [payment.history, []] : [payment.history.slice(0, gap), payment.history.slice(gap)]
  const [began, ended] = [changesIn(first, 'pending'), changesIn(rest, rest[0]?.status)]
  const isTold = gap < 0 ? began === told : told.startsWith(began) && told.endsWith(ended)
  const problems = isTold ? [] : [`${id}: went ${began}${gap < 0 ? '' : ` … ${ended}`}, its events say ${told}`]
  const arrived = installation.receivers.ofPayment(id)
  const bodies = written.map(({ body }) => body)
  if (bodies.join('\n') !== arrived.map(({ body }) => body).join('\n')) {
    problems.push(`${id}: its events say ${told}, the merchant was told ${statusesOf(arrived)}`)
  }
  return problems
}

function statusesOf(events: readonly { status: string }[]): string {
  return events.map(({ status }) => status).join()
}

/** No event is left anywhere, and none was given up. */
export function auditUndelivered({ installation }: Traces): string[] {
  const { durable, receivers } = installation
  const problems = [...receivers.complaints]
  for (const [key, value] of durable.data.values) {
    const left = value.type === 'list' ? value.list.length : value.type === 'zset' ? value.zset.size : 0
    if (left > 0 && /:hook(fifo|line|lines|gone)\b/.test(key)) problems.push(`${key}: ${left} entries are left`)
  }
  return problems
}
