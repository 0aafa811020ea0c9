/** What the answers of all streams have in common. */

/** When an entry was written, by the clock of Redis (ms): its id says so. */
export function entryTimeMs(entryId: string): number {
  return Number.parseInt(entryId, 10)
}

/** For XINFO: a stream to which nothing was ever written is missing. */
export function nothingIfMissing(error: unknown): [] {
  if (error instanceof Error && error.message.includes('no such key')) return []
  throw error
}
