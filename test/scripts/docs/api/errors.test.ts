import { expect } from 'chai'
import { createPaymentRoute } from '../../../../api/payments/create-payment-route.js'
import type { FailureCode } from '../../../../machines/model.js'
import { type ErrorSpec, errorCatalogue } from '../../../../runtime/errors.js'
import { errorsOf } from '../../../../scripts/docs/api/error-table.js'

/** By name, so that the compiler asks for a new one. */
const failures: Record<Exclude<FailureCode, 'refund_reversed'>, true> = {
  card_declined: true,
  card_expired: true,
  invalid_token: true,
  unknown_card: true,
  provider_rejected: true,
  network_unavailable: true,
  card_unreadable: true,
  authorization_overdue: true,
  capture_rejected: true,
  capture_not_sent: true
}

describe('docs/API.md: the errors of a route', () => {
  for (const failure of Object.keys(failures) as (keyof typeof failures)[]) {
    it(`name ${failure}, which may end a create`, () => {
      const { publicCode = failure }: ErrorSpec = errorCatalogue[failure]
      expect(errorsOf('POST /v1/payments', createPaymentRoute)).to.contain(`\`${publicCode}\``)
    })
  }
})
