/** The step in which the durable Redis is lost, and a backup with commands that wait is put back (docs/OPERATIONS.md, Redis). */
import { cp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { orderIdOf } from '../../machines/network.js'
import { delay } from '../../runtime/delay.js'
import { readSales } from '../../scripts/simulator/ledger.js'
import type { ChaosClient } from '../chaos/client.js'
import { until } from '../support/conditions.js'
import type { Installation } from './installed-service.js'
import type { Step } from './step.js'
import { untilRewritten } from './steps-servers.js'

const LATE_MAX_MS = 10_000
const WAITING = 5
/** For the requests of merchants to be accepted. */
const ACCEPTED_MS = 1_000
const POLL_MS = 50

export const restore: Step = {
  name: 'backup-and-restore',
  does: 'a backup while commands wait; they are done, and one more payment; Redis lost; the backup put back as docs/OPERATIONS.md says',
  expects:
    'money waits until an operator accepts; nothing is sold, refunded or voided again; the payment that the backup lacks is named',
  async run({ installation, load }) {
    const { durable, simulator } = installation
    await load.audit()
    const copy = `${durable.dataDir}-backup`
    const waiting = load.newClient(false)
    await backUpWhile(installation, copy, async () => {
      for (let i = 0; i < WAITING; i++) waiting.begin(`waits-for-the-backup-${i}`)
      await delay(ACCEPTED_MS)
    })
    await waiting.finish(LATE_MAX_MS)
    const late = load.newClient(false)
    late.begin('after-the-backup')
    await late.finish(LATE_MAX_MS)
    load.forget([...idsOf(waiting), ...idsOf(late)])
    const orders = idsOf(waiting).map(orderIdOf)
    const moved = async (): Promise<string> =>
      JSON.stringify((await readSales(simulator.url)).filter(sale => orders.includes(sale.merchant_order_id)))
    const before = await moved()

    await installation.service().stop()
    await durable.stop()
    await rename(durable.dataDir, `${durable.dataDir}-lost`)
    await durable.putBack(copy)
    await durable.start()
    await installation.startProcesses('api=0', 'tokens=0')
    const found = await installation.operator('installation show')
    await installation.operator('installation accept-restored --yes')
    await reportSales(installation)
    const isNamed = (): boolean => idsOf(late).every(id => isInLog(installation, id))
    for (let tries = 0; tries < 100 && !isNamed(); tries++) await delay(POLL_MS)
    await until(
      'open payments are compared',
      async () => (await installation.operator('installation show'))['standing'] === 'vouched',
      60_000
    )
    await installation.service().stop()
    await installation.startProcesses()
    const isUnmoved = (await moved()) === before
    return {
      isOk: found['standing'] === 'went_back' && isUnmoved && orders.length > 0 && isNamed(),
      seen: `the data ${found['standing']}, ${found['missing_commits']} commits are missing; ${orders.length} payments that waited: ${isUnmoved ? 'nothing was done again' : `CHANGED from ${before} to ${await moved()}`}; ${idsOf(late).length} payment made after the backup, ${isNamed() ? 'named' : 'NOT named'} in the log`
    }
  }
}

/** Copies the files of the durable Redis while the workers are suspended, and `work` makes commands that wait. */
async function backUpWhile(installation: Installation, copy: string, work: () => Promise<void>): Promise<void> {
  const { durable } = installation
  const workers = installation.service().processes.filter(({ name }) => name.startsWith('payments.'))
  await durable.ask('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0')
  await untilRewritten(durable)
  for (const worker of workers) worker.signal('SIGSTOP')
  try {
    await work()
    await cp(join(durable.dataDir, 'appendonlydir'), join(copy, 'appendonlydir'), { recursive: true })
  } finally {
    for (const worker of workers) worker.signal('SIGCONT')
  }
  await durable.ask('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '100')
}

/** Reports each sale to `notifications`, as the network would. */
async function reportSales({ simulator, settings, portOf }: Installation): Promise<void> {
  for (const { payment_id } of await readSales(simulator.url)) {
    await fetch(`http://127.0.0.1:${portOf('notifications.1')}/notifications`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Notification-Secret': settings.credentials.notificationsSecret
      },
      body: JSON.stringify({ PaymentId: payment_id, ChangeType: 1 })
    })
  }
}

function idsOf({ records }: ChaosClient): string[] {
  return [...new Set(records.flatMap(({ paymentIds }) => [...paymentIds]))]
}

function isInLog(installation: Installation, id: string): boolean {
  return installation
    .log()
    .split('\n')
    .some(line => line.includes('not stored here') && line.includes(id))
}
