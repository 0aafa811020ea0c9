/**
 * What people and their cron jobs do to streams by hand (`--tampered`): groups are destroyed, set back and set forward,
 * consumers deleted, streams trimmed, often while a worker dies. A copy of the data without its groups looks the same.
 */
import { unownedEntry } from '../../redis/commands/command-entry.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import { deliveryWork } from '../../redis/webhooks/webhook-queue.js'
import type { Installation } from './simulated-installation.js'
import type { World } from './world.js'

const TAMPERED_EVERY_MS = 2_500
/** How often a worker dies in the same moment. */
const DIES = 0.6
/** Payments are what these worlds are about. */
const OF_PAYMENTS = 0.85
/** A trimmed stream keeps at most so many entries. */
const KEPT_MAX = 2

/** What is done, by name. */
export const ways = ['destroyed', 'set back', 'set forward', 'consumer deleted', 'trimmed'] as const

/** Until it is told that it is over. */
export function beginTampering(world: World, installation: Installation): { isOver: boolean } {
  const tampering = { isOver: false }
  const next = (): void =>
    void world.after(world.random.exponential(TAMPERED_EVERY_MS), null, () => {
      if (tampering.isOver) return
      tamper(world, installation)
      next()
    })
  next()
  return tampering
}

/** One thing that is done to one stream. */
function tamper(world: World, installation: Installation): void {
  const { durable, config } = installation
  const { random } = world
  if (durable.isDown) return
  const isOfPayments = random.chance(OF_PAYMENTS)
  const { stream: streamOf, group } = isOfPayments ? paymentWork : deliveryWork
  const stream = streamOf(random.between(0, config.partitions - 1))
  const way = random.pick(ways)
  const [consumer = 'none'] = shuffled(world, [
    ...(durable.data.stream(stream)?.groups.get(group)?.consumers.keys() ?? [])
  ])
  const command: Readonly<Record<(typeof ways)[number], readonly string[]>> = {
    destroyed: ['XGROUP', 'DESTROY', stream, group],
    'set back': ['XGROUP', 'SETID', stream, group, '0'],
    'set forward': ['XGROUP', 'SETID', stream, group, '$'],
    'consumer deleted': ['XGROUP', 'DELCONSUMER', stream, group, consumer],
    trimmed: ['XTRIM', stream, 'MAXLEN', String(random.between(0, KEPT_MAX))]
  }
  // Without the request of a merchant or a wake-up nothing brings back what a trimmed stream lost: a notification, the order to send an event.
  if (way === 'trimmed' && (!isOfPayments || holdsNotification(installation, stream))) return
  world.note(`stream ${way}`, stream)
  durable.execute(command[way], () => undefined)
  if (!random.chance(DIES)) return
  const workers = installation.living().filter(({ name }) => name.startsWith('payments.'))
  shuffled(world, workers)[0]?.kill()
}

function holdsNotification({ durable }: Installation, stream: string): boolean {
  const entries = [...(durable.data.stream(stream)?.entries ?? [])]
  return entries.some(([entryId, fields]) => {
    const { command } = paymentWork.decode(unownedEntry(0, entryId, fields))
    return command.kind === 'network_notification'
  })
}

function shuffled<T>({ random }: World, items: readonly T[]): T[] {
  return items
    .map(item => ({ item, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
