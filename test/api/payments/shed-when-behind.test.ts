import { expect } from 'chai'
import { aCommandPath, aCreateRequest, aScope } from '../../support/command-path.js'
import { approvedAndCaptured, approvedOnly } from '../../support/fake-network.js'
import { useRedis } from '../../support/redis.js'

const MAX_AGE_MS = 1_000

describe('an API whose workers are behind', () => {
  const test = useRedis()
  let ageMs = 0
  let reads = 0

  async function aShedder() {
    const path = await aCommandPath(test, ({ config, store }) => ({
      config: { ...config, shedAfterMs: MAX_AGE_MS },
      backlog: { ageMs: () => ageMs },
      store: {
        ...store,
        readIdempotency: async (partition, idempotencyRecordId) => {
          reads++
          return await store.readIdempotency(partition, idempotencyRecordId)
        }
      }
    }))
    return { path, payments: path.payments }
  }
  beforeEach(async () => {
    await Promise.all([test.redis.flushdb(), test.secrets.flushdb()])
    ageMs = 0
    reads = 0
  })

  it('refuses new payments, and needs no further read while it is not behind', async () => {
    const { path, payments } = await aShedder()
    expect((await payments.create(aScope('k1'), aCreateRequest(await path.token()))).kind).to.equal('in_progress')
    // The one of the result, after the wait.
    expect(reads).to.equal(1)
    ageMs = MAX_AGE_MS + 1
    const refused = await payments.create(aScope('k2'), aCreateRequest(await path.token())).catch(error => error)
    expect(refused).to.include({ code: 'overloaded' })
  })

  it('accepts captures and cancels: their money is already on its way', async () => {
    const { path, payments } = await aShedder()
    const request = aCreateRequest(await path.token())
    const held = { ...request, terms: { ...request.terms, captureMode: 'manual' as const } }
    const created = await payments.create(aScope('k4'), held)
    if (created.kind !== 'in_progress') throw new Error(created.kind)
    const worker = path.worker()
    worker.network.willAnswer(approvedOnly)
    await worker.work()
    ageMs = MAX_AGE_MS + 1
    for (const operation of ['capture', 'cancel'] as const) {
      const answer = await payments[operation](aScope(operation), created.terms.id, null)
      expect(answer, operation).to.have.property('kind', 'in_progress')
    }
  })

  it('answers the repeat of an accepted request: in progress, then its result', async () => {
    const { path, payments } = await aShedder()
    const worker = path.worker()
    const request = aCreateRequest(await path.token())
    await payments.create(aScope('k3'), request)
    ageMs = MAX_AGE_MS + 1
    expect((await payments.create(aScope('k3'), request)).kind).to.equal('create_in_progress')
    worker.network.willAnswer(approvedAndCaptured)
    await worker.work()
    const replayed = await payments.create(aScope('k3'), request)
    expect(replayed).to.deep.include({ kind: 'finished', isReplay: true })
    expect(replayed).to.have.nested.property('result.progress.status', 'captured')
    expect((await payments.create(aScope('k3', 'another'), request)).kind).to.equal('conflict')
  })
})
