/** Real processes while a gateway of the card network answers 429 or 503 instead of the acquirer. */
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { expectLedgerToAgree } from '../../support/ledger-audit.js'
import { type ApiAnswer, asOperator } from '../../support/merchant.js'
import { NETWORK_TIMEOUT_MS, usePayingService } from '../../support/paying-service.js'

const CREATES = 40
const FAILURES = 5
const WORKERS = 2
/** A trial per worker after 1, 2 and 4 s; the test takes less than 15 s on a busy machine. */
const TRIALS_MAX = 4 * WORKERS

describe('a gateway that turns calls away', function () {
  this.timeout(60_000)
  const { service, merchant, network } = usePayingService(NETWORK_TIMEOUT_MS, FAILURES)

  for (const fault of ['throttle', 'gateway_down'] as const) {
    it(`leaves few creates in doubt, the others fail at once, and a token works again soon after: ${fault}`, async () => {
      const tokens = await Promise.all(Array.from({ length: CREATES }, () => merchant.token()))
      network.faults({ [fault]: 1 })
      const answers: ApiAnswer[] = []
      for (const token of tokens) answers.push(await merchant.create({ token }))
      const refused = answers.filter(({ status }) => status === 503)
      const inDoubt = answers.filter(({ status }) => status === 202)
      expect(refused.length + inDoubt.length).to.equal(CREATES)
      expect(inDoubt.length).to.be.within(FAILURES, FAILURES * WORKERS + TRIALS_MAX)
      for (const { error, headers } of refused) {
        expect([error.code, error.retryable]).to.deep.equal(['network_unavailable', true])
        expect(Number(headers.get('retry-after'))).to.be.at.least(1)
      }
      network.faults()
      // The token of a payment in doubt is used up.
      const token = tokens[answers.findLastIndex(({ status }) => status === 503)] ?? ''
      await until(
        'a create works',
        async () => (await merchant.create({ token })).payment.status === 'captured',
        15_000
      )
      await asOperator(service(), 'clock', 'advance', '11m')
      for (const { payment } of inDoubt) expect((await merchant.settled(payment.id)).status).to.equal('failed')
      for (const { error, payment } of answers) {
        expectLedgerToAgree(network, await merchant.read(error.payment_id ?? payment.id))
      }
    })
  }
})
