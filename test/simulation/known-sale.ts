/** A world does not begin on the first day of its installation: the acquirer account has a sale, and the service knows it. */
import type { CardNetwork } from '../../machines/network.js'
import type { Redis } from '../../redis/connection/connections.js'
import { keys } from '../../redis/keys.js'
import { createKnownSaleStore, encodeKnownSale, type KnownSale } from '../../redis/reconciliation/known-sale.js'
import { createReconcilePace } from '../../redis/reconciliation/reconcile-pace.js'
import type { Clock } from '../../runtime/clock.js'
import type { Config } from '../../runtime/config.js'
import type { Logger } from '../../runtime/log.js'
import type { Acquirer } from '../../scripts/simulator/acquirer.js'
import { saleBody } from '../../workers/network/sale-request.js'
import { createReconcilingNetwork } from '../../workers/payments/reconciling-network.js'
import { buyer } from '../support/payments.js'
import type { RedisServer } from './redis-server.js'
import type { World } from './world.js'

/** No payment of the world has it. */
export const KNOWN_ORDER = '1'.padStart(32, '0')

/** Books the sale at the network, and notes it where workers look for it. */
export function bookKnownSale(acquirer: Pick<Acquirer, 'answer'>, durable: RedisServer, account: string): void {
  const body = saleBody({
    orderId: KNOWN_ORDER,
    amountCents: 100,
    installments: 1,
    capture: true,
    statementDescriptor: null,
    brand: 'visa',
    card: {
      number: '4024007153760060',
      holderName: 'MARIA DA SILVA',
      expirationMonth: '07',
      expirationYear: '2031',
      cvv: '123'
    },
    isStoredCard: false,
    buyer
  })
  acquirer.answer('POST', '/1/sales/', new URLSearchParams(), body ?? '')
  noteKnownSale(durable, account, 'never')
}

/** `voidedShown`: whether records of the account have shown what was voided. */
export function noteKnownSale(durable: RedisServer, account: string, voidedShown: KnownSale['voidedShown']): void {
  const sale: KnownSale = { account, orderId: KNOWN_ORDER, accountSinceMs: 0, notedAtMs: Date.now(), voidedShown }
  durable.execute(['SET', keys.knownSale(), encodeKnownSale(sale)], () => undefined)
}

/** The network as a simulated worker reconciles with it. */
export function reconcilingNetwork(
  network: CardNetwork,
  redis: Redis,
  { config, clock, log, world }: { config: Config; clock: Clock; log: Logger; world: World }
): CardNetwork {
  return createReconcilingNetwork(network, {
    knownSales: createKnownSaleStore(redis),
    pace: createReconcilePace(redis, config.reconcilePerSecond),
    account: config.networkMerchantId,
    onUnconfirmed: reason => world.note(`absence unconfirmed: ${reason}`),
    clock,
    log
  })
}
