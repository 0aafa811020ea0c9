/** Settings of the delivery of webhooks. */
import { delays, integer, keyFile, networks, setting, undocumented } from '../setting.js'

/** So many endpoints may hang, each with all its deliveries in flight, before others are delayed. */
export const ENDPOINTS_HANGING = 16

export const webhookSettings = {
  webhookAllowedNetworks: setting(
    'WEBHOOK_ALLOWED_NETWORKS',
    ['api', 'webhooks'],
    '',
    'CIDR ranges that webhooks may reach although they are not public.',
    networks
  ),
  webhookTimeoutMs: undocumented(
    integer('WEBHOOK_TIMEOUT_MS', ['webhooks'], 10_000, [100, 60_000], "Time for a webhook receiver's answer (ms).")
  ),
  webhookKeysFile: keyFile(
    'WEBHOOK_KEYS_FILE',
    ['api', 'webhooks', 'operator'],
    'secretKeyFile',
    'File with the keys that the signing secrets of webhook endpoints are derived from.'
  ),
  webhookRetryDelaysMs: undocumented(
    setting(
      'WEBHOOK_RETRY_DELAYS_MS',
      ['webhooks'],
      '5000,30000,120000,600000,3600000,10800000,21600000,43200000,86400000,86400000',
      'Gaps before the further attempts to deliver an event (ms); after the last one it is undeliverable.',
      delays
    )
  ),
  webhookConcurrency: undocumented(
    integer('WEBHOOK_CONCURRENCY', ['webhooks'], 128, [1, 10_000], 'Events in flight to one endpoint, at most.')
  ),
  webhookPollMs: undocumented(
    integer(
      'WEBHOOK_POLL_MS',
      ['timers'],
      250,
      [10, 60_000],
      'How often `timers` looks for retries of webhooks that are due (ms).'
    )
  ),
  webhookUndeliverableMax: undocumented(
    integer(
      'WEBHOOK_UNDELIVERABLE_MAX',
      ['webhooks'],
      100_000,
      [1, 10_000_000],
      'Undeliverable events that are kept per merchant, about 150 bytes each; the oldest are dropped.'
    )
  )
} as const
