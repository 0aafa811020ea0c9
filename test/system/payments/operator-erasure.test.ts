/** An operator erases the buyer of a payment, and the payment lives on. */

import { expect } from 'chai'
import { encodeServiceCommand } from '../../../redis/commands/command-entry.js'
import { encodeLetter } from '../../../redis/commands/stored-dead-letter.js'
import { keys, partitionOfPayment } from '../../../redis/keys.js'
import { asOperator, withRedis } from '../../support/merchant.js'
import { usePayingService } from '../../support/paying-service.js'
import { createCommand } from '../../support/payments.js'

describe('operator payment erase-buyer', () => {
  const { service, merchant } = usePayingService()
  const run = (...args: string[]): ReturnType<typeof asOperator> => asOperator(service(), ...args)

  it('erases the buyer for the merchant too, and the payment accepts a refund afterwards', async () => {
    const { id } = (await merchant.create({ reference: 'order-of-the-erasure' })).payment
    const erased = await run('payment', 'erase-buyer', id, '--yes', '--json')
    expect(erased.json()).to.deep.equal({ payment_id: id, buyer_erased: true, stored_card: null })
    expect((await run('payment', 'erase-buyer', id, '--yes')).out).to.contain('was erased before')

    expect((await merchant.cancel(id, { amount: 1_000 })).status).to.equal(200)
    const payment = await merchant.read(id)
    expect(payment).to.deep.include({
      customer: { name: 'erased', email: 'erased@erased.invalid' },
      external_reference: 'order-of-the-erasure',
      refunded_cents: 1_000
    })
    expect((await run('payment', 'history', id)).out).to.contain('BUYER_ERASED')
  })

  it('refuses while a dead letter has the buyer', async () => {
    const { id } = (await merchant.create()).payment
    const partition = partitionOfPayment(id)
    await withRedis(service(), async redis => {
      const fields = encodeServiceCommand(id, createCommand)
      await redis.xadd(
        keys.deadLetters(partition),
        '*',
        ...fields,
        ...encodeLetter({ reason: 'a test', deadLetteredAtMs: 1 })
      )
    })
    const refused = await run('payment', 'erase-buyer', id, '--yes')
    expect(refused.err).to.match(/The dead letter \d+:\d+-\d+ has the buyer/)
    const letters = (await run('dead-letter', 'list', '--json')).json() as { letter_id: string; payment_id: string }[]
    const letter = letters.find(({ payment_id: paymentId }) => paymentId === id)
    await run('dead-letter', 'replay', letter?.letter_id ?? '')
    expect((await run('payment', 'erase-buyer', id, '--yes')).code).to.equal(0)
  })
})
