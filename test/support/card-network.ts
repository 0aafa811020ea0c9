/** What tests of the card network start from: a configuration, a purchase, a simulator. */
import { pino } from 'pino'
import type { AuthoriseRequest } from '../../machines/network.js'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../scripts/simulator/simulator.js'
import type { NetworkConfig } from '../../workers/network/card-network.js'

export const credentials = {
  networkMerchantId: '00000000-0000-4000-8000-00000000000a',
  networkMerchantKey: 'key-of-the-tests'
}

/** The adapter's configuration against one base URL; short timeouts. */
export function networkConfig(url: string, changes: Partial<NetworkConfig> = {}): NetworkConfig {
  return {
    networkTransactionUrl: url,
    networkQueryUrl: url,
    ...credentials,
    networkConnectTimeoutMs: 1_000,
    networkAuthoriseTimeoutMs: 2_000,
    networkTimeoutMs: 2_000,
    networkCircuitFailures: 5,
    environment: 'test',
    ...changes
  }
}

/** A simulator in this process on a free port, with its ledger in memory. */
export function startTestSimulator(changes: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  return startSimulator({
    host: '127.0.0.1',
    port: 0,
    ledgerFile: null,
    merchantId: credentials.networkMerchantId,
    merchantKey: credentials.networkMerchantKey,
    notificationsUrl: 'http://127.0.0.1:9/notifications',
    notificationsSecret: 'secret-of-the-tests',
    log: pino({ level: 'silent' }),
    ...changes
  })
}

/** A purchase that is approved and captured in one step, unless changed. */
export function purchase(changes: Partial<AuthoriseRequest> = {}, cardNumber = '4024007153760060'): AuthoriseRequest {
  return {
    orderId: 'order1',
    amountCents: 10_000,
    installments: 1,
    capture: true,
    statementDescriptor: 'LOJA',
    brand: 'visa',
    card: {
      number: cardNumber,
      holderName: 'Ana Souza',
      expirationMonth: '12',
      expirationYear: '2031',
      cvv: '123'
    },
    isStoredCard: false,
    buyer: {
      name: 'Ana Souza',
      email: 'ana@example.com',
      document: '11144477735',
      phone: '11987654321',
      address: {
        zipCode: '01001000',
        street: 'Praca da Se',
        number: '100',
        complement: null,
        district: 'Se',
        city: 'Sao Paulo',
        state: 'SP'
      }
    },
    ...changes
  }
}
