import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { placeOf, type ReportedChange } from '../../../machines/model.js'
import { unreplicated } from '../../../redis/connection/writes.js'
import { createPaymentStore } from '../../../redis/payments/payments.js'
import { readConfig } from '../../../runtime/config.js'
import { freePort } from '../../../scripts/start/ports.js'
import { noteKnownSale } from '../../support/known-sale.js'
import { Merchant, withRedis } from '../../support/merchant.js'
import { driverSettings, inWordsOfTheWire, PathDriver } from '../../support/path-driver.js'
import {
  pathsOverTransitions,
  pathsToStates,
  type TitledPath,
  transitionTaken,
  before as worldBefore
} from '../../support/payment-paths.js'
import { Rounds } from '../../support/rounds.js'
import { KNOWN_ORDER, ScriptedAcquirer } from '../../support/scripted-acquirer.js'
import { type ServiceOptions, useService } from '../../support/service.js'
import { endOf } from '../../support/shortest-paths.js'

const ports = { transactions: await freePort(), queries: await freePort() }
const notificationsPort = await freePort()
const notificationsSecret = 'secret-of-the-generated-paths'
const changeTypes = { change: 1, denied_refund: 5, chargeback: 7 } as const

/** As long as can be set, and as the whole walk may take. */
const CALL_MAX_MS = '180000'

const options: ServiceOptions = {
  procfile: readFileSync('Procfile', 'utf8').replace(/^(network|webhooks):.*\n/gm, ''),
  scale: ['payments=2'],
  env: {
    LOG_LEVEL: 'error',
    NETWORK_TRANSACTION_URL: `http://127.0.0.1:${ports.transactions}`,
    NETWORK_QUERY_URL: `http://127.0.0.1:${ports.queries}`,
    // Calls are held until all paths have come to the next death, however long that takes.
    NETWORK_TIMEOUT_MS: CALL_MAX_MS,
    NETWORK_AUTHORISE_TIMEOUT_MS: CALL_MAX_MS,
    HEARTBEAT_MS: '200',
    // The dead are killed here. One that was only slow would be taken for dead, and what it does would be done twice.
    TAKEOVER_AFTER_MS: '5000',
    TIMERS_INTERVAL_MS: '50',
    // A query that is held has no answer, and keeps others from being asked.
    RECONCILE_PER_SECOND: '10000',
    NOTIFICATIONS_PORT: String(notificationsPort),
    NOTIFICATIONS_SECRET: notificationsSecret,
    ...driverSettings
  }
}

type Step = (path: TitledPath, index: number) => boolean
const event = (path: TitledPath, index: number) => path.steps[index]?.event

/** What happens to the machine and cannot be made to happen over HTTP; such paths are walked by the pure machine only. */
const unreachable: readonly { readonly reason: string; readonly isStep: Step }[] = [
  {
    reason: 'POISONED needs a command that fails five times for a reason of its own: a fault of this software',
    isStep: (path, index) => event(path, index)?.type === 'POISONED'
  },
  {
    reason: 'CARD_MISSING needs card data that goes away between the acceptance and the first delivery',
    isStep: (path, index) => event(path, index)?.type === 'CARD_MISSING'
  },
  {
    reason: 'OVERDUE needs workers that are away for longer than AUTHORISE_WITHIN_MS',
    isStep: (path, index) => event(path, index)?.type === 'OVERDUE'
  },
  {
    reason: 'OPERATION_CONCLUDED needs the horizon to pass, and meanwhile the service asks the network by itself',
    isStep: (path, index) => event(path, index)?.type === 'OPERATION_CONCLUDED'
  },
  {
    reason: 'DECLINED is said to sales only: to a capture or void the acquirer says REJECTED',
    isStep: (path, index) =>
      event(path, index)?.type === 'DECLINED' && worldBefore(path, index).underWay?.kind !== 'authorise'
  },
  {
    reason: 'a sale without money in it is not taken for the own one while another one has some',
    isStep: (path, index) => {
      const step = event(path, index)
      if (step?.type !== 'FOUND' || step.duplicateSaleId === null) return false
      const isDead = step.sale.status === 'denied' || step.sale.status === 'voided'
      return isDead && worldBefore(path, index).payment.progress.references.saleId === null
    }
  }
]

const has = (path: TitledPath, isStep: Step): boolean => path.steps.some((_, index) => isStep(path, index))
const isReachable = (path: TitledPath): boolean => !unreachable.some(({ isStep }) => has(path, isStep))
const includes = (path: TitledPath, type: string): boolean => path.steps.some(step => step.event.type === type)
const isRefused = (path: TitledPath): boolean => includes(path, 'NOT_SENT')
const isResumed = (path: TitledPath): boolean => includes(path, 'RESUMED')

const toStates = pathsToStates().map(path => ({ path, driven: inWordsOfTheWire(path) }))
const overTransitions = pathsOverTransitions()
const drivable = [...toStates.map(({ driven }) => driven), ...overTransitions].filter(isReachable)

const { networkMerchantId: account } = readConfig({ SERVICE_ENV: 'test' })

/** Paths of the same events differ in the last transition: what it is for tells them apart. */
function titleOf(path: TitledPath): string {
  const index = path.steps.length - 1
  const last = event(path, index)
  const transition = last === undefined ? null : transitionTaken(worldBefore(path, index), last)
  return `${path.title}: ${transition?.description}`
}

describe('generated paths over HTTP', function () {
  this.timeout(180_000)
  const service = useService(options)
  const merchant = new Merchant(service)
  const acquirer = new ScriptedAcquirer(ports)
  const rounds = new Rounds()
  /** What the merchant sees at the end of each path. */
  const ends = new Map<TitledPath, object>()
  const faults = new Map<TitledPath, Error>()

  const notify = async (saleId: string, reported: ReportedChange): Promise<void> => {
    const { status } = await fetch(`http://127.0.0.1:${notificationsPort}/notifications`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Notification-Secret': notificationsSecret },
      body: JSON.stringify({ PaymentId: saleId, ChangeType: changeTypes[reported] })
    })
    if (status !== 200) throw new Error(`the notification was answered ${status}`)
  }

  /** All at the same time, because they share the clock and the deaths of the workers. */
  const walk = async (paths: readonly TitledPath[]): Promise<void> => {
    await acquirer.takeTransactions()
    await withRedis(service(), async redis => {
      const payments = createPaymentStore(unreplicated(redis))
      const walks = paths.map(path => async () => {
        const driver = new PathDriver(path, { service: service(), merchant, acquirer, payments, rounds, notify })
        await driver.drive()
        const { status, captured_cents, refunded_cents, refunds, operation } = await merchant.read(driver.paymentId)
        // The key is the driver's own, another one in each run.
        const { idempotency_key: _, ...told } = operation ?? { idempotency_key: '' }
        const listed = refunds.map(refund => [refund.amount_cents, refund.state, refund.error?.code ?? null])
        ends.set(path, { status, captured_cents, refunded_cents, refunds: listed, operation: told })
        acquirer.forget(driver.paymentId)
      })
      for (const [index, error] of (await rounds.run(walks)).entries()) {
        const path = paths[index]
        if (path !== undefined && error !== null) faults.set(path, error)
      }
    })
  }

  before(async () => {
    await acquirer.start()
    // The paths' own sales are answered by their tests alone.
    await withRedis(service(), redis => noteKnownSale(redis, { account, orderId: KNOWN_ORDER }))
    // In walks of their own: once transactions are refused, they are for all payments, and a death hits every call. A command
    // that it hits is redelivered together with the wake-up of its payment, in either order.
    for (const isRefusedHere of [false, true]) {
      for (const isResumedHere of [false, true]) {
        await walk(drivable.filter(path => isRefused(path) === isRefusedHere && isResumed(path) === isResumedHere))
      }
    }
  })
  after(() => acquirer.stop())

  const expectEnd = (path: TitledPath): void => {
    const fault = faults.get(path)
    if (fault !== undefined) throw fault
    const { status, capturedCents, refundedCents, refunds, operation } = endOf(path).payment.progress
    expect(ends.get(path)).to.deep.equal({
      status,
      captured_cents: capturedCents,
      refunded_cents: refundedCents,
      refunds: refunds.map(({ amountCents, state, error }) => [amountCents, state, error]),
      operation: { kind: operation.kind, state: operation.state, amount_cents: operation.amountCents }
    })
  }

  describe('to each state', () => {
    for (const { path, driven } of toStates) {
      it(path.title, () => {
        expect(placeOf(endOf(driven).payment.progress)).to.equal(placeOf(endOf(path).payment.progress))
        expectEnd(driven)
      })
    }
  })

  describe('over the transitions', () => {
    for (const path of overTransitions.filter(isReachable)) it(titleOf(path), () => expectEnd(path))
  })

  describe('leave out only what cannot happen', () => {
    for (const { reason, isStep } of unreachable) {
      it(reason, () => {
        expect(
          overTransitions.filter(path => has(path, isStep)),
          'paths with it'
        ).not.to.have.length(0)
      })
    }
  })
})
