/** Settings of the card network: addresses, credentials, times, and how unknown outcomes are reconciled. */
import { delays, httpUrl, integer, secret, setting, undocumented } from '../setting.js'

const HOUR_MS = 3_600_000

export const networkSettings = {
  networkTransactionUrl: httpUrl(
    'NETWORK_TRANSACTION_URL',
    ['payments', 'doctor'],
    'http://127.0.0.1:3002',
    'Base URL of the card network for POST and PUT.'
  ),
  networkQueryUrl: httpUrl(
    'NETWORK_QUERY_URL',
    ['payments', 'doctor'],
    'http://127.0.0.1:3002',
    'Base URL of the card network for GET.'
  ),
  networkMerchantId: secret(
    'NETWORK_MERCHANT_ID',
    ['payments', 'doctor', 'network'],
    '00000000-0000-4000-8000-000000000001',
    'Credential `MerchantId` at the card network.'
  ),
  networkMerchantKey: secret(
    'NETWORK_MERCHANT_KEY',
    ['payments', 'doctor', 'network'],
    'simulator-merchant-key-0000000000000000A',
    'Credential `MerchantKey` at the card network.'
  ),
  networkConnectTimeoutMs: undocumented(
    integer(
      'NETWORK_CONNECT_TIMEOUT_MS',
      ['payments', 'doctor'],
      5_000,
      [10, 60_000],
      'Time to connect to the card network (ms).'
    )
  ),
  networkAuthoriseTimeoutMs: undocumented(
    integer(
      'NETWORK_AUTHORISE_TIMEOUT_MS',
      ['payments'],
      50_000,
      [50, 180_000],
      'Time for the answer to an authorisation (ms).'
    )
  ),
  networkTimeoutMs: undocumented(
    integer(
      'NETWORK_TIMEOUT_MS',
      ['payments', 'doctor'],
      20_000,
      [50, 180_000],
      'Time for the answer to any other network call (ms).'
    )
  ),
  networkRetryMs: undocumented(
    integer(
      'NETWORK_RETRY_MS',
      ['payments'],
      4_000,
      [0, 30_000],
      'How long a call is retried that did not leave the process (ms).'
    )
  ),
  networkCircuitFailures: undocumented(
    integer(
      'NETWORK_CIRCUIT_FAILURES',
      ['payments'],
      5,
      [1, 1_000_000],
      'Calls in a row to NETWORK_TRANSACTION_URL without an answer (429, 5xx, timeout, cut connection), or that refuse our credentials (401, 403), after which a process refuses new payments, except a trial each 1 to 10 s.'
    )
  ),
  notFoundHorizonMs: undocumented(
    integer(
      'NOT_FOUND_HORIZON_MS',
      ['payments', 'operator'],
      600_000,
      [100, 24 * HOUR_MS],
      'Silence of the network about a sale that counts as proof of absence (ms).'
    )
  ),
  reconcileDelaysMs: undocumented(
    setting(
      'RECONCILE_DELAYS_MS',
      ['payments', 'operator'],
      '2000,5000,15000,60000,300000,900000,3600000',
      'Gaps between the queries about an unknown outcome that were answered (ms); the last one repeats. A query without an answer is repeated within 30 s.',
      delays
    )
  ),
  reconcilePerSecond: integer(
    'RECONCILE_PER_SECOND',
    ['payments', 'timers'],
    100,
    [1, 10_000],
    'Reconciliations per second, of all workers, that no request waits for: each of at most two calls (an expiry counts as three, a notification as two). Twice as many must be below what the acquirer allows, less new sales.'
  ),
  reconcileListAfterMs: undocumented(
    integer(
      'RECONCILE_LIST_AFTER_MS',
      ['payments', 'operator'],
      72 * HOUR_MS,
      [1_000, 720 * HOUR_MS],
      'Age at which an unknown outcome is listed for manual review (ms).'
    )
  ),
  simulatorUrl: httpUrl(
    'SIMULATOR_URL',
    ['api'],
    '',
    'Test environment: where the simulator is controlled, for chargebacks. Empty: the test route for them answers 409.'
  ),
  notificationsPort: integer(
    'NOTIFICATIONS_PORT',
    ['notifications', 'network'],
    3003,
    [0, 65_535],
    "Port of the route that takes the card network's notifications."
  ),
  notificationsUrl: httpUrl(
    'NOTIFICATIONS_URL',
    ['network'],
    '',
    'Address to which the simulator posts its notifications. Empty: /notifications on NOTIFICATIONS_PORT of this machine.'
  ),
  notificationsSecret: secret(
    'NOTIFICATIONS_SECRET',
    ['notifications', 'network'],
    'simulator-notification-secret',
    'Value of the header `X-Notification-Secret` that the card network sends. Live: at least 32 characters; `openssl rand -hex 32` makes one.'
  )
} as const
