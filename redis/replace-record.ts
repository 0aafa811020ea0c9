/** Records that several processes may change at once. */
import type { Redis } from './connection/connections.js'
import { defineNamedScript } from './scripts.js'

const replaceScript = defineNamedScript<{
  keys: 'record'
  given: { before: string | undefined; after: string }
}>('replace_record')

/** Replaces a record. False when another process has replaced it since it was read as `before`: read it again. */
export async function replaceRecord(
  redis: Redis,
  record: string,
  before: string | null,
  after: string
): Promise<boolean> {
  return (await replaceScript(redis, { record }, { before: before ?? undefined, after })) === 1
}
