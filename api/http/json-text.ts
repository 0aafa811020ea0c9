/**
 * What `JSON.parse` does not report: the size of the structure, duplicate names, and rounded numbers. It keeps the last
 * value of a duplicate name, and makes 2000 of 1999.99999999999999999: another amount than the requested one would be
 * charged.
 */
import { randomUUID } from 'node:crypto'

/** What a text, valid JSON or not, has outside of its strings. */
export interface Structure {
  /** Colons: in valid JSON there is one for each member that was written. */
  readonly members: number
  /** Members, objects and arrays; or numbers, when there are more of them. */
  readonly size: number
  /** Start and end of each number that a double may not represent. */
  readonly doubtful: readonly (readonly [start: number, end: number])[]
}

/** A double represents every decimal of so many digits, unless an exponent makes it too large or too small (IEEE 754). */
const EXACT_DIGITS = 15
/** The longest text of a double in JavaScript has 25 characters. */
const NUMBER_LENGTH_MAX = 40

/** Stops once the size exceeds `sizeMax`. */
export function structureOf(text: string, sizeMax: number): Structure {
  let members = 0
  let containers = 0
  let numbers = 0
  const doubtful: [number, number][] = []
  for (let at = 0; at < text.length && members + containers <= sizeMax && numbers <= sizeMax; at++) {
    const character = text[at] as string
    if (character === '"') at = endOfString(text, at)
    else if (character === ':') members += 1
    else if (character === '{' || character === '[') containers += 1
    else if (character >= '-' && character <= '9') {
      const end = endOfNumber(text, at)
      numbers += 1
      if (isDoubtful(text, at, end)) doubtful.push([at, end])
      at = end - 1
    }
  }
  return { members, size: Math.max(members + containers, numbers), doubtful }
}

/** Where the string that begins at `start` ends: at a quote with no backslash, or an even number of them, before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}

function isDoubtful(text: string, start: number, end: number): boolean {
  return end - start > EXACT_DIGITS || /e/i.test(text.slice(start, end))
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && /[-+.\deE]/.test(text[end] as string)) end += 1
  return end
}

/** @param value what `JSON.parse` made of a text of this structure; nested as deeply as the stack allows */
export function hasRepeatedNames({ members }: Structure, value: unknown): boolean {
  return members > membersOf(value)
}

/** The members of a value, at every level. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner: unknown[] = Object.values(value)
  return inner.reduce((sum: number, one) => sum + membersOf(one), Array.isArray(value) ? 0 : inner.length)
}

/**
 * Where `JSON.parse` changes a number: its names and indexes, outermost first; none for a text that is a number itself.
 *
 * @param text valid JSON of this structure, without repeated names
 */
export function roundedNumbers(text: string, { doubtful }: Structure): string[][] {
  const rounded = doubtful.filter(([start, end]) => !isKept(text.slice(start, end)))
  if (rounded.length === 0) return []
  // Parses again with a marker instead of each rounded number: shorter than a parser that tracks names and indexes.
  const mark = randomUUID()
  const starts = [...rounded.map(([start]) => start), text.length]
  const pieces = starts.map((start, at) => text.slice(rounded[at - 1]?.[1] ?? 0, start))
  return placesOf(JSON.parse(pieces.join(`"${mark}"`)), mark)
}

function placesOf(value: unknown, mark: string): string[][] {
  if (value === mark) return [[]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => placesOf(one, mark).map(place => [name, ...place]))
}

/** Whether the shortest decimal of the double is the decimal that was written, so that 2000.0, 2e3 and 0.1 are. */
function isKept(written: string): boolean {
  return written.length <= NUMBER_LENGTH_MAX && decimalOf(String(Number(written))) === decimalOf(written)
}

/** One text per decimal number: its digits without zeros at either end, and a power of ten. */
function decimalOf(number: string): string {
  const [, sign, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(number) ?? []
  if (whole === undefined) return number
  const digits = (whole + fraction).replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return end === 0 ? '0' : `${sign}${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`
}
