/**
 * How records are stored: one table per type has a row for each field, and encoding and decoding follow from it. A field
 * without a row does not compile.
 */
import { WrittenByNewer } from '../machines/written-by-newer.js'

/** Writes a value in the form in which it is stored, and reads it. */
export interface Format<Value, Stored> {
  encode(value: Value): Stored
  decode(stored: Stored): Value
}

/** In the place of a default: the field is always stored. */
export const required = undefined

/** A row of a list: the default, and the format of what is not JSON already. */
type ListRow<Value> = readonly [initial: Value | typeof required, format?: Format<Value, unknown>]

/** A 0 that is not the default. No field is a boolean. */
const ZERO = false

/**
 * A JSON list with the values in the order of the rows. A default is stored as 0, or left out when nothing follows; so is
 * an empty list. Rows stay where they are: a new one goes to the end, where an older version passes it over.
 *
 * `decode` throws `WrittenByNewer` when a required field is missing.
 */
export function storedList<T extends object>(
  table: { readonly [Field in keyof T]-?: ListRow<T[Field]> }
): Format<T, unknown[]> {
  type Value = T[keyof T]
  // A hot path: a payment is encoded and decoded several times per command. V8 keeps objects of up to 18 fields fast here.
  const fields = Object.keys(table) as (keyof T)[]
  const rows = Object.values<ListRow<Value>>(table)
  const initials = rows.map(([initial]) => initial)
  const formats = rows.map(([, format]) => format)
  return {
    encode(value) {
      const stored: unknown[] = []
      for (let at = 0; at < fields.length; at++) {
        const field = fields[at] as keyof T
        const one = value[field]
        if (one === initials[at]) continue
        const coded = formats[at]?.encode(one) ?? one
        if (coded === initials[at] || (Array.isArray(coded) && coded.length === 0)) continue
        while (stored.length < at) stored.push(0)
        stored.push(coded === 0 ? ZERO : coded)
      }
      return stored
    },
    decode(stored) {
      const value: Partial<T> = {}
      for (let at = 0; at < fields.length; at++) {
        const field = fields[at] as keyof T
        const coded = at < stored.length ? stored[at] : 0
        const given = coded === ZERO ? 0 : coded
        const one = coded === 0 ? initials[at] : (formats[at]?.decode(given) ?? (given as Value))
        if (one === required) throw new WrittenByNewer(`A stored record lacks ${String(field)}.`)
        value[field] = one
      }
      return value as T
    }
  }
}

/** A list of values of one format. */
export function many<Value, Stored>(format: Format<Value, Stored>): Format<readonly Value[], Stored[]> {
  return {
    encode: values => values.map(value => format.encode(value)),
    decode: stored => stored.map(one => format.decode(one))
  }
}

/** A word of a list, stored as its position: new words go to the end of the list. */
export function oneOf<Word extends string>(words: readonly Word[]): Format<Word, number> {
  return {
    encode: word => words.indexOf(word),
    decode(position) {
      const word = words[position]
      if (word !== undefined) return word
      throw new WrittenByNewer(`A stored record has word ${position} of ${words}, which this version does not know.`)
    }
  }
}
