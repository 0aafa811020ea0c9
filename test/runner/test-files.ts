/** Which test files the arguments of `npm test` mean, and in which order they run. */
import { dirname } from 'node:path'
import { UsageError } from '../../scripts/command-line/usage-error.js'

/**
 * `redis/payments/commits`, `test/redis/payments/commits.test.ts` and `commits` all mean dist/test/redis/payments/commits.test.js. Throws `UsageError`
 * with every pattern that means none.
 */
export function selectTestFiles(files: readonly string[], patterns: readonly string[]): string[] {
  if (patterns.length === 0) return [...files]
  const unknown: string[] = []
  const selected = patterns.flatMap(pattern => {
    const part = pattern.replace(/^(dist\/)?test\//, '').replace(/(\.test)?\.[jt]s$/, '')
    const matches = files.filter(file => file.includes(part))
    if (matches.length === 0) unknown.push(pattern)
    return matches
  })
  if (unknown.length > 0) {
    throw new UsageError(
      `No test file matches ${unknown.join(', ')}. Give a part of the path of a file in test/, such as redis or redis/payments/commits.`
    )
  }
  return [...new Set(selected)].sort()
}

/** What buyers see. All of it passes in Firefox; `npm test` without a path runs these tests there, half a minute of them. */
export const IN_FIREFOX_TOO = {
  files: ['system/card-data/fields.test', 'system/card-data/shop.test'],
  tests: 'never the card|keyboard alone|tell screen readers|keep the caret|takes a card, charges it'
}

/**
 * What `npm test` runs in one process each, by the beginning of the path in test/. A file belongs to the first that fits.
 * These compute, or wait for programs that compute: they measure no time, and have time enough.
 */
const AT_LOW_PRIORITY = [
  'simulation/simulation',
  'simulation/crash-matrix',
  'api/reference',
  'scripts/commands',
  'deploy'
]
/** The others: what takes longest is begun first, and what computes beside what waits for servers that were killed or frozen. */
const LONGEST_FIRST = [
  'chaos',
  'system/card-data',
  'redis/connection',
  'system/operations/restored-data',
  'scripts',
  'system/operations',
  'live-drill',
  'workers',
  'system/redis-cluster',
  'system/payments',
  'system',
  'redis',
  'api',
  'client',
  'machines',
  'archive',
  'contract',
  ''
]
const BATCHES = [...AT_LOW_PRIORITY, ...LONGEST_FIRST]

/** Whether a batch gives way to the others. */
export function isLowPriority(batch: readonly string[]): boolean {
  return batch.every(file => AT_LOW_PRIORITY.includes(BATCHES[placeOf(file)] ?? ''))
}

const SHARED_SERVICE = /\buseService\([^)]*\)/

/**
 * Divides the files into batches for processes that run side by side. In a batch, files that ask for the same service
 * follow each other, because it is started once for them (test/support/service.ts). `textOf` reads a file.
 */
export function batchesOf(files: readonly string[], textOf: (file: string) => string): readonly (readonly string[])[] {
  const orderOf = (file: string): string => `${dirname(file)} ${SHARED_SERVICE.exec(textOf(file))?.[0] ?? ''} ${file}`
  return BATCHES.map((_, place) =>
    files
      .filter(file => placeOf(file) === place)
      .map(file => ({ file, order: orderOf(file) }))
      .sort((a, b) => (a.order < b.order ? -1 : 1))
      .map(({ file }) => file)
  ).filter(batch => batch.length > 0)
}

function placeOf(file: string): number {
  return BATCHES.findIndex(beginning => file.startsWith(`dist/test/${beginning}`))
}
