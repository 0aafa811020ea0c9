/** The dashboard of operators: what merchants see, where the time goes, what needs a look. */
import { most, quantile, type Row, rate } from './panel.js'

export const operatorRows: readonly Row[] = [
  [
    'What merchants see',
    [
      {
        title: 'Requests by status',
        description: '5xx and 429 should be nothing.',
        unit: 'reqps',
        lines: [[rate('card_payments_http_request_duration_seconds_count', 'status'), '{{status}}']]
      },
      {
        title: 'Time of a payment POST',
        description: 'p50, p99; most of it is the card network.',
        unit: 's',
        lines: [0.5, 0.99].map(
          q =>
            [
              quantile(q, 'card_payments_http_request_duration_seconds', 'route', '{method="POST"}'),
              `p${q * 100} {{route}}`
            ] as const
        )
      },
      {
        title: 'Turned away',
        description: 'Shed: 503 without work. Limited: 429. Refused tokens: used or expired.',
        unit: 'reqps',
        lines: [
          [rate('card_payments_http_requests_shed_total', 'reason'), 'shed {{reason}}'],
          ['sum (rate(card_payments_http_requests_rate_limited_total[$__rate_interval]))', 'rate limited'],
          [rate('card_payments_token_claims_refused_total', 'reason'), 'token {{reason}}']
        ]
      },
      {
        title: 'Error budget of creates',
        description: 'How fast it is used, over 1 h and 3 days: above 1 the objective is missed (OPERATIONS.md).',
        unit: 'short',
        lines: [
          ['card_payments:slo_burn:rate1h', '{{slo}}, 1 h'],
          ['card_payments:slo_burn:rate3d', '{{slo}}, 3 days']
        ]
      },
      {
        title: 'In flight',
        description: 'Requests under way, and merchants that have any.',
        unit: 'short',
        lines: [
          ['sum (card_payments_http_requests_in_flight)', 'requests'],
          [most('card_payments_merchants_in_flight'), 'merchants']
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
          [quantile(0.99, 'card_payments_accept_seconds', ''), 'accept'],
          [quantile(0.99, 'card_payments_command_queue_seconds', ''), 'queue'],
          [quantile(0.99, 'card_payments_payment_lock_seconds', ''), 'lock'],
          [quantile(0.99, 'card_payments_commit_seconds', ''), 'commit'],
          [quantile(0.99, 'card_payments_reply_seconds', ''), 'reply']
        ]
      },
      {
        title: 'Card network',
        description: 'p99 of its calls.',
        unit: 's',
        lines: [[quantile(0.99, 'card_payments_network_call_seconds', 'operation'), '{{operation}}']]
      },
      {
        title: 'Outcomes of the card network',
        description: 'Ambiguous answers become payments in doubt.',
        unit: 'reqps',
        lines: [[rate('card_payments_network_call_seconds_count', 'operation, outcome'), '{{operation}} {{outcome}}']]
      },
      {
        title: 'Circuit of the card network',
        description: 'Workers that refuse new payments, because the card network gives no answers.',
        unit: 'short',
        lines: [['sum (card_payments_network_circuit_open)', 'open']]
      },
      {
        title: 'Waiting for the result',
        description: '`none`: answered 202 because the wait was over.',
        unit: 'reqps',
        lines: [[rate('card_payments_result_wait_seconds_count', 'outcome'), '{{outcome}}']]
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
          [most('card_payments_commands_waiting'), 'waiting'],
          [most('card_payments_commands_pending'), 'pending'],
          ['sum (card_payments_commands_in_work)', 'in work, by the workers']
        ]
      },
      {
        title: 'Oldest command, workers',
        description: 'Age of the oldest command without a result.',
        unit: 's',
        lines: [
          [most('card_payments_commands_oldest_seconds'), 'oldest'],
          [most('card_payments_workers_alive'), 'workers (count)']
        ]
      },
      {
        title: 'Contention and conflicts',
        description: 'Locks that were taken, versions that had moved, commands that went back or were taken over.',
        unit: 'reqps',
        lines: [
          ['sum (rate(card_payments_payment_lock_seconds_count{outcome="taken"}[$__rate_interval]))', 'lock taken'],
          [
            'sum (rate(card_payments_commit_seconds_count{outcome=~"version_conflict|taken_over"}[$__rate_interval]))',
            'conflicts'
          ],
          [rate('card_payments_commands_given_back_total', 'way'), 'given back: {{way}}'],
          ['sum (rate(card_payments_takeovers_total[$__rate_interval]))', 'takeovers']
        ]
      },
      {
        title: 'Commands by kind',
        description: 'Ended by workers.',
        unit: 'reqps',
        lines: [[rate('card_payments_command_seconds_count', 'command'), '{{command}}']]
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
        lines: [[most('card_payments_payments_in_doubt', 'older_than_s'), 'older than {{older_than_s}} s']]
      },
      {
        title: 'For a person',
        description: 'Should be nothing.',
        unit: 'short',
        lines: [
          [most('card_payments_dead_letters'), 'dead letters'],
          [most('card_payments_payments_in_review'), 'in review'],
          ['sum (increase(card_payments_notifications_given_up_total[$__range]))', 'notifications without a payment']
        ]
      },
      {
        title: 'Wake-ups',
        description:
          'Expiries due: near nothing while a `timers` runs. Questions wait for their turn after an outage of the network.',
        unit: 'short',
        lines: [
          [most('card_payments_wakeups_due'), 'expiries due'],
          [most('card_payments_reconciliations_due'), 'questions to the network that wait'],
          [most('card_payments_wakeups_scheduled'), 'scheduled'],
          ['sum (rate(card_payments_due_commands_total[$__rate_interval]))', 'fired per second'],
          [rate('card_payments_timer_rounds_failed_total', 'round'), 'failed rounds: {{round}}']
        ]
      },
      {
        title: 'Processes',
        description: 'Ready processes, by version, and those that warn.',
        unit: 'short',
        lines: [
          ['sum (card_payments_process_ready)', 'ready'],
          ['count by (process, version) (card_payments_build_info)', '{{process}} {{version}}'],
          ['sum by (part) (card_payments_process_warning)', 'warn of {{part}}']
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
          [rate('card_payments_webhook_attempts_total', 'result'), '{{result}}'],
          ['sum (rate(card_payments_webhook_undeliverable_total[$__rate_interval]))', 'given up'],
          ['sum (rate(card_payments_webhook_dropped_total[$__rate_interval]))', 'dropped'],
          ['sum (rate(card_payments_webhook_forgotten_total[$__rate_interval]))', 'switched off']
        ]
      },
      {
        title: 'Backlog of webhooks',
        description: 'Payments whose event is being sent, payments that wait, endpoints that are only probed.',
        unit: 'short',
        lines: [
          [most('card_payments_webhook_commands'), 'being sent'],
          [most('card_payments_webhook_waiting_payments'), 'waiting'],
          [most('card_payments_webhook_open_circuits'), 'open circuits']
        ]
      },
      {
        title: 'Oldest event, receivers',
        description: 'Age of the oldest command; p99 of the answers of receivers.',
        unit: 's',
        lines: [
          [most('card_payments_webhook_commands_oldest_seconds'), 'oldest'],
          [quantile(0.99, 'card_payments_webhook_attempt_seconds', ''), 'receiver p99']
        ]
      },
      {
        title: 'Memory of Redis',
        description: 'Used part, and the part that will be used in three days if it grows as in the last day.',
        unit: 'percentunit',
        lines: [
          [
            `${most('card_payments_redis_memory_used_bytes', 'redis')} / ${most('card_payments_redis_memory_limit_bytes', 'redis')}`,
            '{{redis}}'
          ],
          [
            `max by (redis) (predict_linear(card_payments_redis_memory_used_bytes[1d], 3 * 86400)) / ${most('card_payments_redis_memory_limit_bytes', 'redis')}`,
            '{{redis}} in three days'
          ]
        ]
      },
      {
        title: 'Event loop, CPU, clock',
        description: 'Lag p99 and CPU of each process; difference to the clock of Redis.',
        unit: 's',
        lines: [
          [most('nodejs_eventloop_lag_p99_seconds', 'instance'), 'lag {{instance}}'],
          [rate('process_cpu_seconds_total', 'instance'), 'CPU {{instance}}'],
          ['max by (instance) (abs(card_payments_clock_difference_seconds))', 'clock {{instance}}']
        ]
      }
    ]
  ]
]
