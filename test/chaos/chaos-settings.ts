/** Production's times, shorter, so that a run sees the end of what it begins. */
const SETTINGS = {
  LOG_LEVEL: 'warn',
  NETWORK_CONNECT_TIMEOUT_MS: '1000',
  NETWORK_AUTHORISE_TIMEOUT_MS: '3000',
  NETWORK_TIMEOUT_MS: '2000',
  NETWORK_RETRY_MS: '1000',
  NOT_FOUND_HORIZON_MS: '20000',
  RECONCILE_DELAYS_MS: '500,1000,2000,5000',
  HEARTBEAT_MS: '500',
  TAKEOVER_AFTER_MS: '2000',
  // Waiting for a result is no outage, and can't be told from one: short, so that outages show.
  RESULT_WAIT_MS: '1000',
  // A new payment whose command was trimmed away fails then, instead of after a quarter of an hour.
  AUTHORISE_WITHIN_MS: '30000',
  WEBHOOK_RETRY_DELAYS_MS: '500,1000,2000,4000,8000,8000,8000,8000,8000,8000'
}
const BRIEF = {
  NETWORK_AUTHORISE_TIMEOUT_MS: '1500',
  NETWORK_TIMEOUT_MS: '1500',
  NETWORK_RETRY_MS: '500',
  NOT_FOUND_HORIZON_MS: '7000',
  RECONCILE_DELAYS_MS: '300,600,1200'
}

/** The settings of the service in a run. */
export function settingsOf(pace: 'full' | 'brief'): typeof SETTINGS {
  return { ...SETTINGS, ...(pace === 'brief' ? BRIEF : {}) }
}
