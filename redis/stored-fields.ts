/**
 * How values are stored: as a JSON list that begins with the number of its format. One table per type has a row for each
 * field, and encoding and decoding follow from it. A field without a row does not compile. Only the tables make and
 * read these lists; scripts compare their heads, and put together lists of texts that the tables made.
 */
import { WrittenByOtherVersion } from '../machines/written-by-other-version.js'
import { parseJson } from '../runtime/json.js'

/** Writes a value in the form in which it is stored, and reads it. */
export interface Format<Value, Stored> {
  encode(value: Value): Stored
  decode(stored: Stored): Value
}

/** The format of all that this version stores. Two versions with the same number read each other's values. */
export const FORMAT = 1

/** A value that no version can have written. It is set aside: a repeat would fail in the same way. */
export class DamagedValue extends Error {}

/** In the place of a default: the field is always stored. */
export const required = undefined

/** A row of a list: the default, and the format of what is not JSON already. */
type ListRow<Value> = readonly [initial: Value | typeof required, format?: Format<Value, unknown>]

type Table<T> = { readonly [Field in keyof T]-?: ListRow<T[Field]> }

/** A 0 that is not the default. No field is a boolean. */
const ZERO = false

/**
 * A JSON list with the values in the order of the rows. A default is stored as 0, or left out when nothing follows; so is
 * an empty list. Rows stay where they are: a new one goes to the end, where an older version passes it over.
 *
 * `decode` throws `DamagedValue` when a required field is missing.
 */
export function storedList<T extends object>(table: Table<T>): Format<T, unknown[]> {
  type Value = T[keyof T]
  // A hot path: a payment is encoded and decoded several times per command. V8 keeps objects of up to 18 fields fast here.
  const fields = Object.keys(table) as (keyof T)[]
  const rows = Object.values<ListRow<Value>>(table)
  const initials = rows.map(([initial]) => initial)
  const formats = rows.map(([, format]) => format)
  const isLeftOut = (coded: unknown, at: number): boolean =>
    coded === initials[at] || (Array.isArray(coded) && coded.length === 0)
  return {
    encode(value) {
      const stored: unknown[] = []
      for (let at = 0; at < fields.length; at++) {
        const field = fields[at] as keyof T
        const one = value[field]
        if (one === initials[at]) continue
        const coded = formats[at]?.encode(one) ?? one
        if (isLeftOut(coded, at)) continue
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
        if (one === required) throw new DamagedValue(`A stored list lacks ${String(field)}.`)
        value[field] = one
      }
      return value as T
    }
  }
}

/**
 * A whole value: the list of a table, with the number of the format before it. `name` is for error messages, such as
 * "payment"; those never quote the value.
 *
 * `decode` throws `WrittenByOtherVersion` for another format, and `DamagedValue` for what is no such list.
 */
export function wholeList<T extends object>(name: string, table: Table<T>): Format<T, unknown[]> {
  const list = storedList(table)
  return {
    encode: value => [FORMAT, ...list.encode(value)],
    decode(stored) {
      const [format, ...elements] = Array.isArray(stored) ? stored : []
      if (format === FORMAT) return decodeSurely(name, () => list.decode(elements))
      if (!Number.isInteger(format)) throw new DamagedValue(`A stored ${name} is not a list with a format number.`)
      throw new WrittenByOtherVersion(
        `A stored ${name} has format ${format}, and this version reads format ${FORMAT}: a process of another version can read it.`
      )
    }
  }
}

/** The text of a whole value. */
export function storedValue<T extends object>(name: string, table: Table<T>): Format<T, string> {
  const list = wholeList(name, table)
  return {
    encode: value => JSON.stringify(list.encode(value)),
    decode: text => list.decode(parseJson(text) as unknown[])
  }
}

/** Errors of formats that met a value of another type say nothing of use, and may quote it. */
function decodeSurely<Value>(name: string, decode: () => Value): Value {
  try {
    return decode()
  } catch (error) {
    if (error instanceof WrittenByOtherVersion || error instanceof DamagedValue) throw error
    throw new DamagedValue(`A stored ${name} has elements of another type.`)
  }
}

/** None for what this version can't read: in lists that are shown, one damaged value must not hide all others. */
export function readable<Value>(text: string, decode: (text: string) => Value): Value[] {
  try {
    return [decode(text)]
  } catch {
    return []
  }
}

/** A list of values of one format. */
export function many<Value, Stored>(format: Format<Value, Stored>): Format<readonly Value[], Stored[]> {
  return {
    encode: values => values.map(value => format.encode(value)),
    decode: stored => stored.map(one => format.decode(one))
  }
}

/** A list of texts. */
export const textList: Format<readonly string[], readonly unknown[]> = {
  encode: values => values,
  decode(stored) {
    const isText = (one: unknown): one is string => typeof one === 'string'
    if (Array.isArray(stored) && stored.every(isText)) return stored
    throw new DamagedValue('A stored list of texts has something else in it.')
  }
}

/** A word of a list, stored as its position: new words go to the end of the list. */
export function numbered<Word extends string>(words: readonly Word[]): Format<Word, number> {
  return {
    encode: word => words.indexOf(word),
    decode(position) {
      const word = words[position]
      if (word !== undefined) return word
      if (!Number.isInteger(position)) throw new DamagedValue(`A stored list has no number for one of ${words}.`)
      throw new WrittenByOtherVersion(
        `A stored list has word ${position} of ${words}, which this version does not know.`
      )
    }
  }
}

/** A word of a list, stored as it is. */
export function knownOf<Word extends string>(words: readonly Word[]): Format<Word, Word> {
  return {
    encode: word => word,
    decode(word) {
      if (words.includes(word)) return word
      throw new WrittenByOtherVersion(`A stored list has a word that is none of ${words}.`)
    }
  }
}
