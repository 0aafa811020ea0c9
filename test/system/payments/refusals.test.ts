import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { asOperator, testCards } from '../../support/merchant.js'
import { PATIENT_TIMEOUT_MS, usePayingService } from '../../support/paying-service.js'

describe('a status that does not take an operation', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService(PATIENT_TIMEOUT_MS)

  const paid = async (): Promise<string> => (await merchant.create()).payment.id
  const held = async (): Promise<string> => (await merchant.create({ capture: false })).payment.id
  const hanging = async (begin: (id: string) => Promise<unknown>, id: string, status: string): Promise<string> => {
    network.hold('arrived')
    await begin(id)
    await merchant.settled(id, status)
    return id
  }

  /** How a payment gets into each status, and what it answers there to a capture and to a cancel. */
  const rows: Record<
    string,
    { reach: () => Promise<string>; capture: [string, boolean] | null; cancel: [string, boolean] | null }
  > = {
    pending: {
      reach: async () => {
        network.hold('arrived')
        return (await merchant.create({ waitS: 0 })).payment.id
      },
      capture: ['invalid_state', true],
      cancel: ['invalid_state', true]
    },
    unknown: {
      reach: async () => {
        network.faults({ drop_after: 1 })
        return (await merchant.create()).payment.id
      },
      capture: ['invalid_state', true],
      cancel: ['invalid_state', true]
    },
    capturing: {
      reach: async () => hanging(id => merchant.capture(id, { waitS: 0 }), await held(), 'capturing'),
      capture: ['invalid_state', true],
      cancel: ['invalid_state', true]
    },
    cancelling: {
      reach: async () => hanging(id => merchant.cancel(id, { waitS: 0 }), await held(), 'cancelling'),
      capture: ['invalid_state', true],
      cancel: ['invalid_state', true]
    },
    refunding: {
      reach: async () => hanging(id => merchant.cancel(id, { waitS: 0 }), await paid(), 'refunding'),
      capture: ['invalid_state', true],
      cancel: ['invalid_state', true]
    },
    captured: { reach: paid, capture: ['invalid_state', false], cancel: null },
    partially_refunded: {
      reach: async () => (await merchant.cancel(await paid(), { amount: 1 })).payment.id,
      capture: ['invalid_state', false],
      cancel: null
    },
    refunded: {
      reach: async () => (await merchant.cancel(await paid())).payment.id,
      capture: ['invalid_state', false],
      cancel: ['invalid_state', false]
    },
    canceled: {
      reach: async () => (await merchant.cancel(await held())).payment.id,
      capture: ['invalid_state', false],
      cancel: ['invalid_state', false]
    },
    failed: {
      reach: async () => (await merchant.create({ card: testCards.declined })).error.payment_id ?? '',
      capture: ['invalid_state', false],
      cancel: ['invalid_state', false]
    },
    charged_back: {
      reach: async () => {
        const id = await paid()
        await network.chargeBack(id)
        return (await merchant.settled(id, 'charged_back')).id
      },
      capture: ['invalid_state', false],
      cancel: ['invalid_state', false]
    },
    expired: {
      reach: async () => {
        const id = await held()
        await asOperator(service(), 'clock', 'advance', '8d')
        return (await merchant.settled(id, 'expired')).id
      },
      capture: ['preauth_expired', false],
      cancel: ['invalid_state', false]
    }
  }

  for (const [status, { reach, capture, cancel }] of Object.entries(rows)) {
    it(`says so, and changes nothing: ${status}`, async () => {
      const id = await reach()
      const before = await merchant.read(id)
      expect(before.status).to.equal(status)
      for (const [name, expected] of [
        ['capture', capture],
        ['cancel', cancel]
      ] as const) {
        if (expected === null) continue
        const { status: http, error } = await merchant[name](id)
        expect([http, error.code, error.retryable], name).to.deep.equal([
          expected[0] === 'invalid_state' ? 409 : 422,
          ...expected
        ])
      }
      expect((await merchant.read(id)).status).to.equal(status)
      network.faults()
      network.answerHeld()
      await until('it settles', async () => {
        const now = await merchant.read(id)
        return before.operation.state === 'in_progress' || status === 'unknown' ? now.status !== status : true
      })
    })
  }
})
