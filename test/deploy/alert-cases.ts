/** For each alert of ops/alerts.yml, what a process tells when it must fire. */

/** Series without their job, and their values, one a minute, in the notation of promtool: `0+5x20` is 0, 5, 10 … 100. */
export type Series = Readonly<Record<string, string>>

export interface AlertCase {
  readonly alert: string
  readonly series: Series
  /** When the alert must fire, counted from the first value. */
  readonly at: string
  /** Series of a healthy installation that this one lacks. */
  readonly without?: string
  /** What another service tells meanwhile. */
  readonly elsewhere?: Series
}

const requests = 'card_payments_http_request_duration_seconds'
const creates = (more: string): string => `{method="POST",route="/v1/payments",${more}}`
const calls = (operation: string, outcome: string): string =>
  `card_payments_network_call_seconds_count{operation="${operation}",outcome="${outcome}"}`
const authorisations = (outcome: string, reason: string): string =>
  `card_payments_authorisations_total{brand="visa",outcome="${outcome}",reason="${reason}"}`
const memory = (used: string): Series => ({
  'card_payments_redis_memory_used_bytes{redis="durable"}': used,
  'card_payments_redis_memory_limit_bytes{redis="durable"}': '100x180'
})
const disk = (free: string): Series => {
  const labels = '{instance="redis",mountpoint="/var/lib/redis",fstype="ext4"}'
  return { [`node_filesystem_avail_bytes${labels}`]: free, [`node_filesystem_size_bytes${labels}`]: '100x180' }
}
const slowSteps = (step: string, below: string, above: string): Series => ({
  [`card_payments_${step}_bucket{le="${below}"}`]: '0x20',
  [`card_payments_${step}_bucket{le="${above}"}`]: '0+10x20',
  [`card_payments_${step}_bucket{le="+Inf"}`]: '0+10x20'
})
/** A gauge or counter that fires as soon as it has this value for some minutes. */
const when = (alert: string, series: string, values: string, at: string): AlertCase => ({
  alert,
  series: { [`card_payments_${series}`]: values },
  at
})

export const alertCases: readonly AlertCase[] = [
  when('ProcessNotReady', 'process_ready{instance="a"}', '0x5', '3m'),
  {
    alert: 'ProcessNotReady',
    series: { 'up{instance="a"}': '1 0x9', 'card_payments_process_ready{instance="a"}': '1 _x9' },
    at: '9m'
  },
  when('ProcessWarns', 'process_warning{instance="a",part="clock"}', '1x10', '8m'),
  {
    alert: 'ProcessMissing',
    series: {},
    at: '3m',
    without: 'card_payments_build_info{process="webhooks"}',
    elsewhere: { 'card_payments_build_info{process="webhooks"}': '1x10' }
  },
  { ...when('ProcessMissing', 'workers_alive', '0x5', '3m'), without: 'card_payments_workers_alive' },
  {
    alert: 'SloBurnsFast',
    series: {
      [`${requests}_count${creates('status="503"')}`]: '0+2x90',
      [`${requests}_count${creates('status="201"')}`]: '0+98x90'
    },
    at: '90m'
  },
  {
    alert: 'SloBurnsFast',
    series: {
      [`${requests}_count${creates('status="201"')}`]: '0+100x90',
      [`${requests}_bucket${creates('status="201",le="5"')}`]: '0+70x90'
    },
    at: '90m'
  },
  {
    alert: 'SloBurnsSlowly',
    series: {
      [`${requests}_count${creates('status="503"')}`]: '0+2x480',
      [`${requests}_count${creates('status="201"')}`]: '0+998x480'
    },
    at: '8h'
  },
  {
    alert: 'ServerErrors',
    series: { [`${requests}_count{status="500"}`]: '0+5x20', [`${requests}_count{status="200"}`]: '0+95x20' },
    at: '12m'
  },
  { alert: 'CommandsLate', series: slowSteps('command_queue_seconds', '2.5', '5'), at: '12m' },
  when('CommandsLate', 'commands_oldest_seconds', '130x5', '4m'),
  { alert: 'CommandsLate', series: slowSteps('commit_seconds', '0.25', '0.5'), at: '12m' },
  { alert: 'RedisMemoryHigh', series: memory('95x10'), at: '8m' },
  { alert: 'RedisMemoryRunsOut', series: memory('40+0.1x180'), at: '3h' },
  { alert: 'DiskFull', series: disk('9x5'), at: '1m' },
  {
    alert: 'NetworkAnswersBadly',
    series: { [calls('capture', 'ambiguous')]: '0+2x20', [calls('capture', 'approved')]: '0+8x20' },
    at: '12m'
  },
  {
    alert: 'NetworkRefusesSales',
    series: { [calls('authorise', 'rejected')]: '0+3x20', [calls('authorise', 'approved')]: '0+7x20' },
    at: '12m'
  },
  {
    alert: 'ApprovalRateFell',
    series: {
      [authorisations('approved', '')]: '0+90x300 27030+30x59',
      [authorisations('declined', 'do_not_honor')]: '0+10x300 3070+70x59'
    },
    at: '6h'
  },
  {
    alert: 'CardsTested',
    series: {
      'card_payments_authorisations_total{merchant="m_1",brand="visa",outcome="declined",reason="do_not_honor"}':
        '0+5x30',
      'card_payments_authorisations_total{merchant="m_1",brand="visa",outcome="approved",reason=""}': '0+1x30'
    },
    at: '20m'
  },
  when('NetworkAnswersBadly', 'payments_in_doubt{older_than_s="60"}', '21x10', '7m'),
  when('NetworkAnswersBadly', 'absences_unconfirmed_total{reason="denied"}', '0+1x15', '9m'),
  when('PaymentsNeedOperator', 'payments_in_doubt{older_than_s="3600"}', '1x5', '3m'),
  when('PaymentsNeedOperator', 'payments_in_review', '1x5', '3m'),
  when('PaymentsNeedOperator', 'notifications_given_up_total', '0 0 1x10', '5m'),
  when('PaymentsNeedOperator', 'dead_letters', '1x5', '3m'),
  when('ManyPaymentsNeedOperator', 'payments_in_review', '7x30 27x10', '32m'),
  when('ManyPaymentsNeedOperator', 'dead_letters', '0x30 20x10', '32m'),
  when('PaymentsNeedOperator', 'stray_commands_total', '0 0 1x10', '5m'),
  when('PaymentsNeedOperator', 'payments_abandoned_total', '0 0 1x10', '5m'),
  when('PaymentsNeedOperator', 'webhook_failures_total{way="left"}', '0 0 1x10', '5m'),
  when('CommandsLate', 'webhook_commands_oldest_seconds', '61x10', '8m'),
  when('WebhookEndpointFails', 'webhook_failing_seconds', '0+60x50', '40m'),
  when('WebhookEndpointFails', 'webhook_waiting_payments', '1001x10', '6m'),
  when('WebhookEndpointFails', 'webhook_undeliverable_total', '0 0 1x10', '9m'),
  when('WebhookEndpointFails', 'webhook_dropped_total', '0 0 1x10', '9m'),
  when('RedisMemoryRunsOut', 'archive_oldest_waiting_seconds', '86401x90', '80m')
]

/** What must fire nothing, though parts of it look bad. */
export const quietCases: Readonly<Record<string, Omit<AlertCase, 'alert'>>> = {
  'one failed create of ten in a quiet night': {
    series: {
      [`${requests}_count${creates('status="503"')}`]: '0x60 1x30',
      [`${requests}_count${creates('status="201"')}`]: '0+0.1x90'
    },
    at: '80m'
  },
  'a disk in memory that is full': {
    series: {
      'node_filesystem_avail_bytes{mountpoint="/run",fstype="tmpfs"}': '0x20',
      'node_filesystem_size_bytes{mountpoint="/run",fstype="tmpfs"}': '100x20'
    },
    at: '10m'
  },
  'an endpoint that has failed for a quarter of an hour': {
    series: { card_payments_webhook_failing_seconds: '0+60x15 0x10' },
    at: '20m'
  },
  'a memory that grows too slowly to matter': { series: memory('40+0.01x180'), at: '3h' },
  'a brand that is always declined more often': {
    series: {
      [authorisations('approved', '')]: '0+30x120',
      [authorisations('declined', 'insufficient_funds')]: '0+70x120'
    },
    at: '2h'
  }
}
