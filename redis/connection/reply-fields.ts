/** Names and values in the answers of Redis. */

/** Names and values in turn, as Redis writes the fields of stream entries and the rows of XINFO. */
export function fieldsOf<T>(pairs: readonly T[]): Map<T, T> {
  const fields = new Map<T, T>()
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at]
    const value = pairs[at + 1]
    if (name !== undefined && value !== undefined) fields.set(name, value)
  }
  return fields
}

/** A field of INFO; undefined: this server has none of the name. */
export function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1]
}
