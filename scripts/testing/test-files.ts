/** Which test files the arguments of `npm test` mean. */
import { UsageError } from '../command-line/usage-error.js'

/**
 * `redis/commits`, `test/redis/commits.test.ts` and `commits` all mean dist/test/redis/commits.test.js. Throws `UsageError`
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
      `No test file matches ${unknown.join(', ')}. Give a part of the path of a file in test/, such as redis or redis/commits.`
    )
  }
  return [...new Set(selected)].sort()
}
