/** The dashboard of the business: how many payments are approved, why others are not, and the money. */
import type { Row } from './panel.js'

const hourly = (by: string, series: string): string => `sum by (${by}) (increase(${series}[1h]))`
const whole = (by: string, series: string): string => `sum by (${by}) (increase(${series}[$__range]))`
const authorisations = (only: string): string => `card_payments_authorisations_total{${only}}`
const decided = authorisations('outcome=~"approved|declined"')
const approved = authorisations('outcome="approved"')
const declined = authorisations('outcome="declined"')

export const businessRows: readonly Row[] = [
  [
    'Authorisations',
    [
      {
        title: 'Approval rate',
        description: 'Approved, of all that an issuer decided, in the last hour.',
        unit: 'percentunit',
        lines: [
          [`sum (increase(${approved}[1h])) / sum (increase(${decided}[1h]))`, 'all'],
          [`${hourly('brand', approved)} / ${hourly('brand', decided)}`, '{{brand}}']
        ]
      },
      {
        title: 'Authorisations an hour',
        description: 'failed: no answer of an issuer, nothing was charged.',
        unit: 'short',
        lines: [[hourly('outcome', 'card_payments_authorisations_total'), '{{outcome}}']]
      },
      {
        title: 'Declines an hour, by reason',
        description: 'The reasons are those of docs/DECLINES.md.',
        unit: 'short',
        lines: [[hourly('reason', declined), '{{reason}}']]
      },
      {
        title: 'Declines an hour, by brand and reason',
        description: 'A reason that only one brand has points to that brand.',
        unit: 'short',
        lines: [[hourly('brand, reason', declined), '{{brand}} {{reason}}']]
      },
      {
        title: 'Failures an hour, by reason',
        description: 'Payments that failed without the answer of an issuer.',
        unit: 'short',
        lines: [[hourly('reason', authorisations('outcome="failed"')), '{{reason}}']]
      }
    ]
  ],
  [
    'Money',
    [
      {
        title: 'In the time shown',
        description: 'Captured, refunded by merchants, and charged back by buyers.',
        unit: 'currencyBRL',
        type: 'stat',
        lines: [[`${whole('flow', 'card_payments_money_cents_total')} / 100`, '{{flow}}']]
      },
      {
        title: 'An hour',
        description: 'The same over time.',
        unit: 'currencyBRL',
        lines: [[`${hourly('flow', 'card_payments_money_cents_total')} / 100`, '{{flow}}']]
      },
      {
        title: 'Payments in the time shown',
        description: 'Changes to each status (docs/PAYMENTS.md): captured, refunded, charged_back and so on.',
        unit: 'short',
        type: 'stat',
        lines: [[whole('status', 'card_payments_status_changes_total'), '{{status}}']]
      },
      {
        title: 'Payments an hour',
        description: 'The same over time.',
        unit: 'short',
        lines: [[hourly('status', 'card_payments_status_changes_total'), '{{status}}']]
      }
    ]
  ]
]
