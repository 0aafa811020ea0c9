import type { Json } from '../../contract/schema.js'
import { isRecord } from '../../runtime/json.js'

/** The value, or an object without members where it is no object. */
export function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {}
}
