/**
 * Invariant 6: each change of status has its event, once, and the merchant gets it: at least once, in order per
 * payment, the same to the byte whenever it comes.
 */
import type { Payment } from '../../machines/model.js'
import { compactId, keys } from '../../redis/keys.js'
import type { Config } from '../../runtime/config.js'
import type { Receivers } from './receivers.js'
import type { RedisServer } from './redis-server.js'

/** Where webhook events are: written, left and arrived. */
interface Traces {
  readonly installation: {
    readonly written: WrittenEvents
    readonly durable: RedisServer
    readonly receivers: Receivers
    readonly config: Config
  }
}

interface WrittenEvent {
  readonly status: string
  readonly body: string
}

/** What was put into the outboxes, delivered or not. */
export class WrittenEvents {
  /** By payment (compact id), in the order of writing. */
  readonly #events = new Map<string, WrittenEvent[]>()

  /** Looks at one command that a server runs. */
  note([name, key = '', ...args]: readonly string[]): void {
    if (name !== 'XADD' || !key.endsWith(':outbox')) return
    const field = (wanted: string): string => args[args.indexOf(wanted) + 1] ?? ''
    const [compact, body] = [field('p'), field('e')]
    const { status } = JSON.parse(body) as { status: string }
    this.#events.set(compact, [...this.of(compact), { status, body }])
  }

  of(compact: string): readonly WrittenEvent[] {
    return this.#events.get(compact) ?? []
  }
}

export function auditWebhooks({ installation }: Traces, payment: Payment): string[] {
  const { id } = payment.terms
  const written = installation.written.of(compactId(id))
  const told = statusesOf(written)
  const lived = payment.history.map(line => line.status)
  const changes = lived.filter((status, index) => status !== (index === 0 ? 'pending' : lived[index - 1])).join()
  const problems = changes === told ? [] : [`${id}: went ${changes}, the outbox says ${told}`]
  const arrived = installation.receivers.ofPayment(id)
  if (written.map(({ body }) => body).join('\n') !== arrived.map(({ body }) => body).join('\n')) {
    problems.push(`${id}: the outbox says ${told}, the merchant was told ${statusesOf(arrived)}`)
  }
  return problems
}

function statusesOf(events: readonly { status: string }[]): string {
  return events.map(({ status }) => status).join()
}

/** No event is left anywhere, and none was given up. */
export function auditUndelivered({ installation }: Traces): string[] {
  const { durable, config, receivers } = installation
  const problems = [...receivers.complaints]
  for (let partition = 0; partition < config.partitions; partition++) {
    const fresh = durable.data.stream(keys.outbox(partition))?.entries.size ?? 0
    if (fresh > 0) problems.push(`partition ${partition}: ${fresh} events are left in the outbox`)
  }
  for (const [key, value] of durable.data.values) {
    const left = value.type === 'hash' ? value.hash.size : value.type === 'zset' ? value.zset.size : 0
    if (left > 0 && /:hook(due|wait|gone|dead)\b/.test(key)) problems.push(`${key}: ${left} entries are left`)
  }
  return problems
}
