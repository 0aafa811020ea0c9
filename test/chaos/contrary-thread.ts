/**
 * The contrary acquirer of a chaos run, in front of the simulator: sales of one amount are its own. It has a thread of its own,
 * because the clients keep the main thread busy, and an acquirer does not wait for those.
 */
import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { isRecord } from '../../runtime/json.js'
import { createRandom } from '../simulation/random.js'
import type { ContraryAcquirer } from '../support/contrary-acquirer.js'
import { type ContraryKind, contraryKinds } from '../support/contrary-kinds.js'
import { ContraryServer, type NotificationTarget } from '../support/contrary-server.js'

/** What the acquirer has booked and was asked, as of one moment. */
export type ContraryBooks = Pick<ContraryAcquirer, 'sales' | 'calls' | 'deviations' | 'firstShownMs'>

export interface ContraryThread {
  readonly url: string
  /** Hands every other call on to `behindUrl`, and notifies the service, from now on. */
  connect(place: ContraryPlace): void
  /** Once what it does late is over. */
  books(): Promise<ContraryBooks>
  /**
   * Runs `act` once what was sent is over, while the gateway turns every call away. The clock of the service is moved in there: a
   * horizon that passes before the acquirer has done what it does late would prove nothing.
   */
  whileQuiet<T>(act: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

type Order = ContraryPlace | 'books' | 'close' | 'open'

interface ContraryPlace {
  readonly behindUrl: string
  readonly notifications: NotificationTarget
}

interface Plan {
  readonly seed: number
  /** It takes the sales of this amount. */
  readonly amountCents: number
  /** The not-found horizon of the run. What the acquirer does late is over by then: its time passes faster. */
  readonly horizonMs: number
}

/** What it does late is over within this time, as its own clock tells it (ms). */
const LATE_MS = 40_000

/** Listens on a free port of the loopback interface. */
export async function startContraryThread(plan: Plan): Promise<ContraryThread> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { contraryAcquirer: plan } })
  const [url] = await once(thread, 'message')
  const order = (what: Order): void => thread.postMessage(what)
  const books = async (): Promise<ContraryBooks> => {
    order('books')
    const [current] = await once(thread, 'message')
    return current as ContraryBooks
  }
  return {
    url: String(url),
    connect: order,
    books,
    async whileQuiet(act) {
      order('close')
      await books()
      const result = await act()
      order('open')
      return result
    },
    stop: async () => void (await thread.terminate())
  }
}

/** An account leaves the field out in all its records, and the simulator does not. */
const OF_THE_ACCOUNT: ContraryKind = 'never shows what is voided'
/** Two kinds befall a sale at once now and then; many sales are served as they should be. */
const SHARE = 0.05

if (parentPort !== null && isRecord(workerData) && 'contraryAcquirer' in workerData) {
  const port = parentPort
  const { seed, amountCents, horizonMs } = workerData['contraryAcquirer'] as Plan
  const server = new ContraryServer({
    takes: cents => cents === amountCents,
    dice: createRandom(seed),
    speed: LATE_MS / horizonMs,
    unusual: 0.1
  })
  server.acquirer.kinds = contraryKinds.filter(kind => kind !== OF_THE_ACCOUNT).map(kind => ({ kind, share: SHARE }))
  // As the simulator behind, which has the same account: otherwise a record without the field says nothing.
  server.acquirer.showsZeros = true
  await server.start()
  port.on('message', (order: Order) => {
    if (order === 'close' || order === 'open') {
      server.isClosed = order === 'close'
      return
    }
    if (order !== 'books') return void Object.assign(server, order)
    void server.untilQuiet(LATE_MS).then(() => {
      const { sales, calls, deviations, firstShownMs } = server.acquirer
      port.postMessage({ sales, calls, deviations, firstShownMs } satisfies ContraryBooks)
    })
  })
  port.postMessage(server.url)
}
