/** Which test files the arguments of `npm test` mean, and which of them run side by side. */
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

/**
 * Two lists that take about the same time: the tests that run the whole service, and all others. Each runs in one
 * process, so that the files of a list share its servers.
 */
export function lanesOf(files: readonly string[]): readonly (readonly string[])[] {
  const isSystem = (file: string): boolean => file.includes('/test/system/')
  return [files.filter(isSystem), files.filter(file => !isSystem(file))]
}
