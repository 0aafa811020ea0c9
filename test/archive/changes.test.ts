import { expect } from 'chai'
import { ArchiveUnavailable, type PaymentArchive } from '../../archive/archive.js'
import { withArchive } from '../../archive/payment-store.js'
import type { Payment } from '../../machines/model.js'
import { statusChangeOf } from '../../machines/status-change.js'
import { encodeServiceCommand } from '../../redis/commands/command-entry.js'
import { ensureGroups, readCommands } from '../../redis/commands/read-commands.js'
import { paymentWork } from '../../redis/commands/work-kind.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { keys, partitionOf, partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { createNotificationStore } from '../../redis/notifications/notifications.js'
import { requestErasure } from '../../redis/operator/review.js'
import { removePayments } from '../../redis/payments/archive-moves.js'
import { createPaymentStore } from '../../redis/payments/payments.js'
import { WebhookLog } from '../../redis/webhooks/webhook-log.js'
import { readConfig } from '../../runtime/config.js'
import { createLogger } from '../../runtime/log.js'
import { endlessLease } from '../../workers/network/leases.js'
import { notificationRound } from '../../workers/payments/notification-rounds.js'
import { aCommandPath, aCreateRequest, aScope, type CommandPath } from '../support/command-path.js'
import { until } from '../support/conditions.js'
import { approvedAndCaptured, FakeNetwork } from '../support/fake-network.js'
import { MemoryArchive } from '../support/memory-archive.js'
import { unboundedPace } from '../support/pace.js'
import { PARTITION } from '../support/payments.js'
import { useRedis } from '../support/redis.js'
import { aWorker, type TestWorker } from '../support/worker.js'
import { unreadMetrics } from '../support/worker-metrics.js'

const AWAY = new ArchiveUnavailable(new Error('connect ECONNREFUSED'))

/** The archive while it is away: from now on each method rejects. */
function turnAway(archive: PaymentArchive): () => void {
  const own = archive as unknown as Record<string, unknown>
  for (const name of ['put', 'find', 'takeBack', 'list', 'findBySale']) own[name] = () => Promise.reject(AWAY)
  return () => {
    for (const name of Object.keys(own)) if (!['rows', 'returned'].includes(name)) delete own[name]
  }
}

describe('requests of merchants about archived payments', () => {
  const test = useRedis()
  let archive: MemoryArchive
  let path: CommandPath
  let payment: Payment
  const moveOut = async (): Promise<unknown> => {
    await archive.put([payment])
    return await removePayments(unreplicated(test.redis), partitionOfPayment(payment.terms.id), [payment])
  }
  const paymentId = (): string => payment.terms.id

  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    archive = new MemoryArchive()
    const config = readConfig({ SERVICE_ENV: 'test', PARTITIONS: '4', ARCHIVE_URL: 'postgres://archive/test' })
    path = await aCommandPath(test, ({ store }) => ({
      config,
      store: withArchive(store, archive, { writes: unreplicated(test.redis) })
    }))
    const submission = await path.payments.create(aScope('create'), aCreateRequest(await path.token()))
    if (!('terms' in submission)) throw new Error(submission.kind)
    const worker = path.worker()
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    const { id } = submission.terms
    const stored = await path.deps.store.load(partitionOfPayment(id), paymentKeyOf(id))
    if (stored === null) throw new Error('it was stored')
    payment = stored
    await moveOut()
  })

  it('are answered: read, listed, a create that is sent again', async () => {
    const { merchantId } = payment.terms
    expect(await path.payments.read(merchantId, paymentId())).to.deep.equal(payment)
    expect(await path.payments.read('m_another', paymentId())).to.equal(null)
    const replay = await path.payments.create(aScope('create'), aCreateRequest(await path.token()))
    expect(replay).to.nested.include({ kind: 'finished', 'terms.id': paymentId(), isReplay: true })
    expect(await test.redis.exists(keys.payment(partitionOfPayment(paymentId()), paymentKeyOf(paymentId())))).to.equal(
      0
    )
  })

  it('refund it', async () => {
    expect(await path.payments.cancel(aScope('refund'), paymentId(), 100)).to.include({ kind: 'in_progress' })
    const stored = createPaymentStore(unreplicated(test.redis))
    expect(await stored.load(partitionOfPayment(paymentId()), paymentKeyOf(paymentId()))).to.deep.equal(payment)
  })

  it('are decided again when it leaves once more, and a repeated one finds its result', async () => {
    const { store } = path.deps
    let times = 0
    const leaving = await aCommandPath(test, () => ({
      config: path.deps.config,
      store: {
        ...store,
        acceptOperation: async (...given) => {
          if (times++ < 2) await moveOut()
          return await store.acceptOperation(...given)
        }
      }
    }))
    expect(await leaving.payments.cancel(aScope('refund'), paymentId(), 5_000)).to.nested.include({
      'result.code': 'amount_exceeds_refundable'
    })
    expect(times).to.equal(3)
    times = 1
    const repeated = await leaving.payments.cancel(aScope('refund'), paymentId(), 5_000)
    expect(repeated).to.nested.include({ 'result.code': 'amount_exceeds_refundable', isReplay: true })
  })

  it('fail while the archive is away, and those about other payments do not', async () => {
    turnAway(archive)
    const { merchantId } = payment.terms
    const failures = await Promise.all(
      [path.payments.read(merchantId, paymentId()), path.payments.cancel(aScope('c'), paymentId(), null)].map(answer =>
        answer.then(
          () => null,
          (error: unknown) => error
        )
      )
    )
    expect(failures).to.deep.equal([AWAY, AWAY])
    const created = await path.payments.create(aScope('other'), aCreateRequest(await path.token()))
    expect(created.kind).to.equal('in_progress')
  })
})

describe('workers with archived payments', () => {
  const test = useRedis()
  let archive: MemoryArchive
  let worker: TestWorker
  let payment: Payment
  const moveOut = async (): Promise<unknown> => {
    await archive.put([payment])
    return await removePayments(unreplicated(test.redis), PARTITION, [payment])
  }

  beforeEach(async () => {
    await test.redis.flushdb()
    archive = new MemoryArchive()
    worker = aWorker(test, ({ payments }) => ({
      payments: withArchive(payments, archive, { writes: unreplicated(test.redis) })
    }))
    const accepted = await worker.created('auto', approvedAndCaptured)
    payment = await worker.load(accepted)
    await moveOut()
  })

  it('bring a payment back for its command, though the archive is away for a while', async () => {
    const comesBack = turnAway(archive)
    let asked = 0
    archive.takeBack = () => {
      asked++
      return Promise.reject(AWAY)
    }
    const command = encodeServiceCommand(payment.terms.id, { kind: 'resolve_review' })
    await test.redis.xadd(keys.commands(PARTITION), '*', ...command)
    const entry = await worker.takeOne()
    const handled = worker.handle(entry)
    await until('the archive was asked', () => asked > 0)
    expect(await worker.left()).to.deep.equal({ commands: 1, letters: 0 })
    comesBack()
    await handled
    expect(await worker.load(payment)).to.deep.equal(payment)
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('erase its buyer in both before the command ends', async () => {
    await requestErasure(test.redis, payment.terms.id)
    await worker.work()
    const rows = [
      ...archive.rows.values(),
      await test.redis.get(keys.payment(PARTITION, paymentKeyOf(payment.terms.id)))
    ]
    expect(rows).to.have.length(2)
    for (const row of rows) expect(row).to.contain('erased@').and.not.to.contain('Ada')
    // What a mover had read before does not come back.
    await archive.put([payment])
    expect([...archive.rows.values()].join()).not.to.contain('Ada')
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('repeat the erasure in the archive when a worker died before it', async () => {
    await requestErasure(test.redis, payment.terms.id)
    const entry = await worker.takeOne()
    const put = archive.put.bind(archive)
    archive.put = () => new Promise(() => undefined)
    void worker.handle(entry)
    const erased = async (): Promise<boolean> =>
      (await worker.load(payment).catch(() => payment)).version > payment.version
    while (!(await erased()));
    archive.put = put
    expect([...archive.rows.values()].join()).to.contain('Ada')
    const next = aWorker(test, ({ payments }) => ({
      payments: withArchive(payments, archive, { writes: unreplicated(test.redis) }),
      lock: { withLock: (_, work) => work(endlessLease) }
    }))
    await next.handle({ ...entry, deliveryCount: 1 })
    expect([...archive.rows.values()].join()).not.to.contain('Ada')
    expect(await worker.left()).to.deep.equal({ commands: 0, letters: 0 })
  })

  it('find it by a sale that the network reports', async () => {
    await ensureGroups(test.redis, PARTITION + 1, paymentWork)
    const notifications = createNotificationStore(unreplicated(test.redis), PARTITION + 1)
    await notifications.note({ saleId: payment.progress.references.saleId ?? '', reported: 'chargeback' }, 1)
    const network = new FakeNetwork()
    const clock = { now: () => 1 }
    const log = createLogger('test', 'silent')
    const times = { giveUpAfterMs: 60_000, leaseMs: 60_000, metrics: unreadMetrics }
    const deps = { notifications, archive, network, pace: unboundedPace, clock, log, ...times }
    await notificationRound(deps, new AbortController().signal)
    const { entries } = await readCommands(test.redis, paymentWork, 'w', [PARTITION], 10)
    expect(entries.map(({ paymentKey }) => paymentKey)).to.deep.equal([paymentKeyOf(payment.terms.id)])
  })

  it('send its webhook events again, in their order', async () => {
    const partitions = PARTITION + 1
    const merchantId = payment.terms.merchantId
    const store = { load: () => archive.find(payment.terms.id) }
    const events = new WebhookLog(test.redis, partitions, store)
    const changes = [1, 2, 3].map(version => ({ change: statusChangeOf({ ...payment, version }, version) }))
    expect(await events.append(merchantId, changes, 1)).to.deep.equal({ sent: 3, left: 0 })
    const list = keys.webhookEvents(partitionOf(merchantId, partitions), paymentKeyOf(payment.terms.id))
    expect(await test.redis.llen(list)).to.equal(3)
  })
})
