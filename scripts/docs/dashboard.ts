/** The Grafana dashboard, from one row per panel. Import `ops/grafana-dashboard.json` and choose the Prometheus. */

interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: 's' | 'short' | 'reqps' | 'percentunit'
  /** Query and legend of each line. */
  readonly lines: readonly (readonly [query: string, legend: string])[]
}

const rate = (series: string, by: string): string => `sum by (${by}) (rate(${series}[$__rate_interval]))`
const quantile = (q: number, histogram: string, by: string, only = ''): string =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${histogram}_bucket${only}[$__rate_interval])))`
const most = (series: string, by = ''): string => `max${by === '' ? '' : ` by (${by})`} (${series})`

const rows: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'What merchants see',
    [
      {
        title: 'Requests by status',
        description: '5xx and 429 should be nothing.',
        unit: 'reqps',
        lines: [[rate('http_request_duration_seconds_count', 'status'), '{{status}}']]
      },
      {
        title: 'Time of a payment POST',
        description: 'p50, p99; most of it is the card network.',
        unit: 's',
        lines: [0.5, 0.99].map(
          q =>
            [quantile(q, 'http_request_duration_seconds', 'route', '{method="POST"}'), `p${q * 100} {{route}}`] as const
        )
      },
      {
        title: 'Turned away',
        description: 'Shed: 503 without work. Limited: 429. Refused tokens: used or expired.',
        unit: 'reqps',
        lines: [
          [rate('http_requests_shed_total', 'reason'), 'shed {{reason}}'],
          ['sum (rate(http_requests_rate_limited_total[$__rate_interval]))', 'rate limited'],
          [rate('token_claims_refused_total', 'reason'), 'token {{reason}}']
        ]
      },
      {
        title: 'In flight',
        description: 'Requests under way, and merchants that have any.',
        unit: 'short',
        lines: [
          ['sum (http_requests_in_flight)', 'requests'],
          [most('merchants_in_flight'), 'merchants']
        ]
      }
    ]
  ],
  [
    'Where the time goes: p99 of each step',
    [
      {
        title: 'Accept, queue, lock, commit, reply',
        description: 'Our own steps. A slow disk shows in accept and commit, missing workers in queue.',
        unit: 's',
        lines: [
          [quantile(0.99, 'accept_seconds', ''), 'accept'],
          [quantile(0.99, 'command_queue_seconds', ''), 'queue'],
          [quantile(0.99, 'payment_lock_seconds', ''), 'lock'],
          [quantile(0.99, 'commit_seconds', ''), 'commit'],
          [quantile(0.99, 'reply_seconds', ''), 'reply']
        ]
      },
      {
        title: 'Card network',
        description: 'p99 of its calls.',
        unit: 's',
        lines: [[quantile(0.99, 'network_call_seconds', 'operation'), '{{operation}}']]
      },
      {
        title: 'Outcomes of the card network',
        description: 'Ambiguous answers become payments in doubt.',
        unit: 'reqps',
        lines: [[rate('network_call_seconds_count', 'operation, outcome'), '{{operation}} {{outcome}}']]
      },
      {
        title: 'Circuit of the card network',
        description: 'Workers that refuse new payments, because the card network gives no answers.',
        unit: 'short',
        lines: [['sum (network_circuit_open)', 'open']]
      },
      {
        title: 'Waiting for the result',
        description: '`none`: answered 202 because the wait was over.',
        unit: 'reqps',
        lines: [[rate('result_wait_seconds_count', 'outcome'), '{{outcome}}']]
      }
    ]
  ],
  [
    'Work',
    [
      {
        title: 'Commands',
        description: 'Waiting for a worker, and in work.',
        unit: 'short',
        lines: [
          [most('commands_waiting'), 'waiting'],
          [most('commands_pending'), 'pending'],
          ['sum (commands_in_work)', 'in work, by the workers']
        ]
      },
      {
        title: 'Oldest command, workers',
        description: 'Age of the oldest command without a result.',
        unit: 's',
        lines: [
          [most('commands_oldest_seconds'), 'oldest'],
          [most('workers_alive'), 'workers (count)']
        ]
      },
      {
        title: 'Contention and conflicts',
        description: 'Locks that were taken, versions that had moved, commands that went back or were taken over.',
        unit: 'reqps',
        lines: [
          ['sum (rate(payment_lock_seconds_count{outcome="taken"}[$__rate_interval]))', 'lock taken'],
          ['sum (rate(commit_seconds_count{outcome=~"version_conflict|taken_over"}[$__rate_interval]))', 'conflicts'],
          [rate('commands_given_back_total', 'way'), 'given back: {{way}}'],
          ['sum (rate(takeovers_total[$__rate_interval]))', 'takeovers']
        ]
      },
      {
        title: 'Commands by kind',
        description: 'Ended by workers.',
        unit: 'reqps',
        lines: [[rate('command_seconds_count', 'command'), '{{command}}']]
      }
    ]
  ],
  [
    'What needs a look',
    [
      {
        title: 'Payments in doubt',
        description: 'By age of the doubt. Hours mean that the card network does not answer questions.',
        unit: 'short',
        lines: [[most('payments_in_doubt', 'older_than_s'), 'older than {{older_than_s}} s']]
      },
      {
        title: 'For a person',
        description: 'Should be nothing.',
        unit: 'short',
        lines: [
          [most('dead_letters'), 'dead letters'],
          [most('payments_in_review'), 'in review'],
          ['sum (increase(notifications_given_up_total[$__range]))', 'notifications without a payment']
        ]
      },
      {
        title: 'Wake-ups',
        description:
          'Expiries due: near nothing while a `timers` runs. Questions wait for their turn after an outage of the network.',
        unit: 'short',
        lines: [
          [most('wakeups_due'), 'expiries due'],
          [most('reconciliations_due'), 'questions to the network that wait'],
          [most('wakeups_scheduled'), 'scheduled'],
          ['sum (rate(due_commands_total[$__rate_interval]))', 'fired per second'],
          [rate('timer_rounds_failed_total', 'round'), 'failed rounds: {{round}}']
        ]
      },
      {
        title: 'Processes',
        description: 'Ready processes, by version, and those that warn.',
        unit: 'short',
        lines: [
          ['sum (process_ready)', 'ready'],
          ['count by (process, version) (build_info)', '{{process}} {{version}}'],
          ['sum by (part) (process_warning)', 'warn of {{part}}']
        ]
      }
    ]
  ],
  [
    'Webhooks, and the processes themselves',
    [
      {
        title: 'Deliveries',
        description: 'Attempts by what they came to.',
        unit: 'reqps',
        lines: [
          [rate('webhook_attempts_total', 'result'), '{{result}}'],
          ['sum (rate(webhook_undeliverable_total[$__rate_interval]))', 'given up'],
          ['sum (rate(webhook_dropped_total[$__rate_interval]))', 'dropped'],
          ['sum (rate(webhook_forgotten_total[$__rate_interval]))', 'switched off']
        ]
      },
      {
        title: 'Backlog of webhooks',
        description: 'Payments whose event is being sent, payments that wait, endpoints that are only probed.',
        unit: 'short',
        lines: [
          [most('webhook_commands'), 'being sent'],
          [most('webhook_waiting_payments'), 'waiting'],
          [most('webhook_open_circuits'), 'open circuits']
        ]
      },
      {
        title: 'Oldest event, receivers',
        description: 'Age of the oldest command; p99 of the answers of receivers.',
        unit: 's',
        lines: [
          [most('webhook_commands_oldest_seconds'), 'oldest'],
          [quantile(0.99, 'webhook_attempt_seconds', ''), 'receiver p99']
        ]
      },
      {
        title: 'Event loop, CPU, clock',
        description: 'Lag p99 and CPU of the busiest process of each kind; difference to the clock of Redis.',
        unit: 's',
        lines: [
          [most('nodejs_eventloop_lag_p99_seconds', 'job'), 'lag {{job}}'],
          ['max by (job) (rate(process_cpu_seconds_total[$__rate_interval]))', 'CPU {{job}}'],
          [most('clock_difference_seconds', 'job'), 'clock ahead {{job}}'],
          ['max by (job) (-clock_difference_seconds)', 'clock behind {{job}}']
        ]
      }
    ]
  ]
]

const PANEL = { w: 6, h: 8 }
const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** The file as Grafana imports it. */
export function dashboardFile(): string {
  const panels = rows.flatMap(([title, own], row) => {
    const y = row * (PANEL.h + 1)
    const head = { type: 'row', title, collapsed: false, panels: [], gridPos: { x: 0, y, w: 24, h: 1 } }
    return [head, ...own.map((panel, column) => panelOf(panel, { x: column * PANEL.w, y: y + 1, ...PANEL }))]
  })
  const variable = { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }
  const dashboard = {
    title: 'Card payments',
    uid: 'card-payments',
    editable: true,
    refresh: '15s',
    schemaVersion: 39,
    tags: ['payments'],
    templating: { list: [variable] },
    time: { from: 'now-1h', to: 'now' },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel }))
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

/** Every query of the dashboard. */
export function dashboardQueries(): string[] {
  return rows.flatMap(([, panels]) => panels.flatMap(({ lines }) => lines.map(([query]) => query)))
}

function panelOf({ title, description, unit, lines }: Panel, gridPos: object): object {
  return {
    type: 'timeseries',
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10 } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: lines.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat
    }))
  }
}
