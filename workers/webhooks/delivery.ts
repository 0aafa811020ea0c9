/** The delivery of webhooks as a whole: own a share of the partitions, read their outboxes, wake what is due. */
import { reasonOf } from '../../redis/errors.js'
import type { PartitionLeases } from '../../redis/partition-leases.js'
import { delay } from '../../runtime/delay.js'
import { warnRateLimited } from '../../runtime/log.js'
import type { DeliveryDeps } from './deps.js'
import type { Backlog } from './metrics.js'
import { Ownership } from './ownership.js'
import { PartitionDelivery } from './partition-delivery.js'

export interface WebhookDeliveryOptions {
  readonly deps: DeliveryDeps
  readonly leases: PartitionLeases
  readonly owner: string
  readonly partitions: number
  readonly heartbeatMs: number
  readonly leaseMs: number
  readonly pollMs: number
}

export interface WebhookDelivery {
  /** Sentence that says why nothing is delivered, or undefined. */
  problem(): string | undefined
  backlog(): Promise<Backlog>
  stop(): Promise<void>
}

const RETRY_MS = 250
/** How long a stop waits for answers that are under way (ms); lifecycle.ts allows 12 s for everything. */
const PATIENCE_MS = 6_000
const BEGINNING = '0-0'

/** Starts at once; resolves when the first share of partitions is taken. */
export async function startWebhookDelivery(options: WebhookDeliveryOptions): Promise<WebhookDelivery> {
  const { deps, leases, owner, partitions, heartbeatMs, leaseMs, pollMs } = options
  const stopping = new AbortController()
  /** Where the reading of each outbox stands. What is not settled is still there, so a new holder begins at its start. */
  const cursors = new Map<number, string>()
  const ownership = new Ownership<PartitionDelivery>({
    leases,
    owner,
    partitions,
    heartbeatMs,
    leaseMs,
    patienceMs: PATIENCE_MS,
    open: (lease, onLost) => {
      cursors.set(lease.partition, BEGINNING)
      return new PartitionDelivery(lease, deps, onLost)
    },
    onClosed: partition => cursors.delete(partition),
    log: deps.log
  })
  await ownership.start()

  let problem: string | undefined
  const report = (text: string | undefined): void => {
    problem = text
  }
  const reading = repeat(stopping.signal, deps, report, async () => {
    if (cursors.size === 0) return delay(pollMs, stopping.signal)
    const found = await deps.queue.readFresh(cursors)
    // A partition may be lost and taken anew between two events. Its new holder reads all of them again: what is left
    // of this read would come to it before what was offered to the old one.
    const holders = new Map(found.map(({ partition }) => [partition, ownership.get(partition)]))
    for (const fresh of found) {
      const holder = holders.get(fresh.partition)
      if (holder === ownership.get(fresh.partition)) await holder?.offer(fresh)
    }
  })
  const polling = repeat(
    stopping.signal,
    deps,
    () => undefined,
    async () => {
      await delay(pollMs, stopping.signal)
      await Promise.all(ownership.partitions.map(partition => ownership.get(partition)?.poll()))
    }
  )
  return {
    problem: () => problem ?? ownership.problem(),
    backlog: () => backlogOf(ownership, deps),
    stop: async () => {
      stopping.abort()
      await Promise.all([reading, polling])
      await ownership.stop()
      deps.queue.close()
      await deps.sender.close()
    }
  }
}

async function repeat(
  stopping: AbortSignal,
  { log }: DeliveryDeps,
  report: (problem: string | undefined) => void,
  round: () => Promise<void>
): Promise<void> {
  while (!stopping.aborted) {
    try {
      await round()
      report(undefined)
    } catch (error) {
      report(`webhook events can't be read: ${reasonOf(error)}`)
      warnRateLimited(log, { err: error }, 'webhook events could not be read')
      await delay(RETRY_MS, stopping)
    }
  }
}

async function backlogOf(ownership: Ownership<PartitionDelivery>, { queue, clock }: DeliveryDeps): Promise<Backlog> {
  const { length, oldestMs } = await queue.outboxFigures(ownership.partitions)
  const figures = ownership.partitions.flatMap(partition => ownership.get(partition)?.figures() ?? [])
  return {
    outbox: length,
    oldestSeconds: oldestMs === null ? 0 : Math.max(0, clock.now() - oldestMs) / 1_000,
    waiting: figures.reduce((sum, { waiting }) => sum + waiting, 0),
    openCircuits: figures.reduce((sum, { openCircuits }) => sum + openCircuits, 0)
  }
}
