/** A panel of a dashboard, and the queries that many panels have in common. */

export interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: 's' | 'short' | 'reqps' | 'percentunit' | 'currencyBRL'
  /** A line over time, unless it is one figure for the time that is shown. */
  readonly type?: 'stat'
  /** Query and legend of each line. */
  readonly lines: readonly (readonly [query: string, legend: string])[]
}

/** Panels side by side. */
export type Row = readonly [title: string, panels: readonly Panel[]]

export const rate = (series: string, by: string): string => `sum by (${by}) (rate(${series}[$__rate_interval]))`

export const quantile = (q: number, histogram: string, by: string, only = ''): string =>
  `histogram_quantile(${q}, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${histogram}_bucket${only}[$__rate_interval])))`

export const most = (series: string, by = ''): string => `max${by === '' ? '' : ` by (${by})`} (${series})`
