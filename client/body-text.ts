/** The JSON of a request's body. */

/**
 * Throws a `TypeError` for what JSON cannot say: `JSON.stringify` writes NaN as null and omits functions, so that
 * something else than the caller meant would be requested.
 */
export function bodyText(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new TypeError(`The body of the request must be an object, and is ${wordOf(body)}.`)
  }
  return JSON.stringify(body, function (this: unknown, name: string, value: unknown) {
    const isOmitted = value === undefined && !Array.isArray(this)
    if (isOmitted || isJson(value)) return value
    throw new TypeError(`\`${name}\` is ${wordOf(value)}, which JSON cannot say.`)
  })
}

function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  // Objects, because a Map or a Set becomes `{}`.
  if (typeof value === 'object') return !(value instanceof Map || value instanceof Set)
  return typeof value === 'string' || typeof value === 'boolean'
}

function wordOf(value: unknown): string {
  if (typeof value === 'bigint') return 'a BigInt'
  if (typeof value === 'object' && value !== null) return `a ${value.constructor?.name ?? 'value'}`
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value)
}
