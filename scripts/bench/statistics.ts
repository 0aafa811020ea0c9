/** Medians and ranges: on a shared machine outliers distort a mean. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/** The median of each figure. */
export function medians<Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, number>>[]
): Record<Name, number> {
  const entries = names.map(name => [name, median(rows.map(row => row[name]))])
  return Object.fromEntries(entries) as Record<Name, number>
}

/** A quantile of sorted values; 0 for none. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
