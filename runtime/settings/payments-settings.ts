/** Settings of payments: waiting, limits, windows, and the workers that drive them. */
import { daysByName, integer, oneOf, setting, undocumented } from '../setting.js'

const HOUR_MS = 3_600_000
/** For the slowest usual health checks of load balancers: every 30 s, two failures. */
const DRAIN_DELAY_MAX_MS = 60_000

export const paymentSettings = {
  resultWaitMs: undocumented(
    integer(
      'RESULT_WAIT_MS',
      ['api'],
      8_000,
      [0, 30_000],
      'How long a payment POST waits for its result before it answers 202 (ms).'
    )
  ),
  rateLimitPerSecond: integer(
    'RATE_LIMIT_PER_SECOND',
    ['api', 'tokens'],
    100,
    [0, 1_000_000],
    'Requests per second and API key; to `tokens`, half of it from one address. 0: no limit.'
  ),
  shedAfterMs: undocumented(
    integer(
      'SHED_AFTER_MS',
      ['api'],
      8_000,
      [100, 600_000],
      'New payments are answered 503 while the oldest command of their partition has waited longer than this for a worker (ms).'
    )
  ),
  keepAliveTimeoutMs: integer(
    'KEEP_ALIVE_TIMEOUT_MS',
    ['api', 'tokens', 'notifications'],
    65_000,
    [1_000, 3_600_000],
    'How long an idle connection stays open. Longer than the balancer in front keeps one (the shipped HAProxy: 60 s).'
  ),
  drainDelayMs: integer(
    'DRAIN_DELAY_MS',
    ['api', 'tokens', 'notifications'],
    0,
    [0, DRAIN_DELAY_MAX_MS],
    'How long a stopping HTTP process takes requests while /readyz answers 503 (ms). Longer than a load balancer needs to notice (docs/DEPLOYING.md).'
  ),
  cnpjWithLetters: oneOf(
    'CNPJ_WITH_LETTERS',
    ['api'],
    ['no', 'yes'],
    'no',
    'Whether `customer.document` may be a CNPJ with letters. Ask the acquirer first.'
  ),
  authoriseWithinMs: undocumented(
    integer(
      'AUTHORISE_WITHIN_MS',
      ['api'],
      900_000,
      [1_000, 24 * HOUR_MS],
      'Age at which a new payment fails instead of being sent to the card network, after an outage of the workers (ms).'
    )
  ),
  preauthTtlDays: setting(
    'PREAUTH_TTL_DAYS',
    ['api'],
    '7',
    'Days in which a pre-authorisation can be captured, at most 30; then exceptions by brand, such as `7,visa=5,elo=15`.',
    daysByName
  ),
  idempotencyRetentionDays: integer(
    'IDEMPOTENCY_RETENTION_DAYS',
    ['api'],
    90,
    [30, 3_650],
    'How long the key of a capture or cancel is remembered; with ARCHIVE_URL also that of a create (days).'
  ),
  tokenTtlMs: undocumented(
    integer('TOKEN_TTL_MS', ['tokens'], 900_000, [1_000, 24 * HOUR_MS], 'Lifetime of a one-use token (ms).')
  ),
  tokensMaxPerKey: integer(
    'TOKENS_MAX_PER_KEY',
    ['tokens'],
    100_000,
    [0, 100_000_000],
    'Tokens that one publishable key gets at once, and as many again in each 15 min: beyond it 429. 0: no limit.'
  ),
  workerConcurrency: integer(
    'WORKER_CONCURRENCY',
    ['payments'],
    1_024,
    [1, 10_000],
    'Commands that one `payments` process works on at the same time.'
  ),
  deliveriesMax: undocumented(
    integer(
      'DELIVERIES_MAX',
      ['payments'],
      5,
      [2, 100],
      'How often a command may end a worker, or fail, before it goes to the dead-letter stream.'
    )
  ),
  heartbeatMs: undocumented(
    integer(
      'HEARTBEAT_MS',
      ['payments', 'webhooks'],
      2_000,
      [50, 10_000],
      'How often a worker writes a heartbeat (ms).'
    )
  ),
  takeoverAfterMs: undocumented(
    integer(
      'TAKEOVER_AFTER_MS',
      ['payments', 'timers', 'webhooks', 'operator'],
      8_000,
      [200, 60_000],
      'Silence after which a worker counts as dead: others take over its commands. Also the lifetime of the lock of a ' +
        'payment. At least twice HEARTBEAT_MS (ms).'
    )
  ),
  timersIntervalMs: undocumented(
    integer('TIMERS_INTERVAL_MS', ['timers'], 250, [10, 60_000], 'How often `timers` looks for what is due (ms).')
  )
} as const
