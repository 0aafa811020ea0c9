import { expect } from 'chai'
import { testCards } from '../../../machines/test-cards.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import type { Merchant, PaymentView } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'

/** What the last digit of a card number decides (docs/API.md#post-v1tokens). */
const answers: Readonly<Record<string, readonly [status: number, word: string]>> = {
  0: [201, 'approved'],
  1: [201, 'approved'],
  2: [422, 'card_declined'],
  3: [422, 'card_expired'],
  4: [201, 'approved'],
  5: [422, 'card_declined'],
  6: [202, 'unknown'],
  7: [422, 'card_declined'],
  8: [422, 'card_declined'],
  9: [202, 'unknown']
}

describe('the published test cards in a running service', function () {
  this.timeout(60_000)
  const { merchant, network } = usePayingService()

  for (const capture of [true, false]) {
    it(`end as their last digit says, with capture ${capture}`, async () => {
      await Promise.all(
        testCards.map(async ({ number }) => {
          const [first, payment] = await payWith(merchant, number, capture)
          const [status, word] = answers[number.slice(-1)] ?? []
          const success = capture ? 'captured' : 'pre_authorized'
          expect(first, number).to.deep.equal([status, word === 'approved' ? success : word])
          const isGood = word === 'approved' || number.endsWith('9')
          expect(payment.status, number).to.equal(isGood ? success : 'failed')
          expectLedgerToAgree(network, payment)
        })
      )
    })
  }
})

/** Status and word (the payment's status, or the error's code) of the first answer, and what the payment became. */
async function payWith(
  merchant: Merchant,
  card: string,
  capture: boolean
): Promise<[first: unknown[], payment: PaymentView]> {
  const { status, payment, error } = await merchant.create({ card, capture })
  const settled = await merchant.settled(error.payment_id ?? payment.id)
  return [[status, status === 422 ? error.code : payment.status], settled]
}
