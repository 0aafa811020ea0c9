/**
 * What Lua scripts work with, as Lua 5.1 has it: values, tables, operators and the library functions that scripts of the
 * service call. Texts are strings of bytes, one character per byte.
 */

/** `nil` is `undefined`. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction
export type LuaFunction = (...args: LuaValue[]) => LuaValue[]

/** A mistake that a script makes at run time. */
export class LuaError extends Error {
  override readonly name = 'LuaError'
}

/** An answer of Redis that begins with `ERR` and the like. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

/** Keys from 1 on are in `list`, which may have holes but never ends with one; all others are in `rest`. */
export class LuaTable {
  readonly list: LuaValue[]
  rest: Map<LuaValue, LuaValue> | undefined

  constructor(list: LuaValue[] = []) {
    this.list = list
  }

  get(key: LuaValue): LuaValue {
    const found = typeof key === 'number' ? this.list[key - 1] : undefined
    return found === undefined ? this.rest?.get(key) : found
  }

  set(key: LuaValue, value: LuaValue): void {
    if (key === undefined) throw new LuaError('table index is nil')
    const { list } = this
    if (typeof key === 'number' && Number.isInteger(key) && key >= 1 && key <= list.length + 1) {
      list[key - 1] = value
      while (list.length > 0 && list[list.length - 1] === undefined) list.pop()
      if (this.rest !== undefined && value !== undefined) this.#takeOver(this.rest)
    } else if (value === undefined) {
      this.rest?.delete(key)
    } else {
      this.rest ??= new Map()
      this.rest.set(key, value)
    }
  }

  entries(): [LuaValue, LuaValue][] {
    const listed = this.list.map((value, index): [LuaValue, LuaValue] => [index + 1, value])
    return [...listed.filter(([, value]) => value !== undefined), ...(this.rest ?? [])]
  }

  #takeOver(rest: Map<LuaValue, LuaValue>): void {
    for (let next = this.list.length + 1; rest.has(next); next++) {
      this.list.push(rest.get(next))
      rest.delete(next)
    }
  }
}

/** `{ a, b, [key] = value }` */
export function tableWith(list: LuaValue[], keyed: readonly (readonly [LuaValue, LuaValue])[]): LuaTable {
  const table = new LuaTable()
  for (const [index, value] of list.entries()) table.set(index + 1, value)
  for (const [key, value] of keyed) table.set(key, value)
  return table
}

export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false
}

export function toNumber(value: LuaValue): number {
  const number = asNumber(value)
  if (number === undefined) throw new LuaError(`attempt to perform arithmetic on ${kindOf(value)}`)
  return number
}

/** A text, or a number as Lua writes it ("%.14g"). */
export function toText(value: LuaValue): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'number') throw new LuaError(`attempt to concatenate ${kindOf(value)}`)
  if (Math.abs(value) >= 1e14) throw new Error(`The simulation does not write ${value} as Lua does.`)
  return String(Number(value.toPrecision(14)))
}

export function isLess(one: LuaValue, other: LuaValue): boolean {
  if (typeof one === 'number' && typeof other === 'number') return one < other
  if (typeof one === 'string' && typeof other === 'string') return one < other
  throw new LuaError(`attempt to compare ${kindOf(one)} with ${kindOf(other)}`)
}

/** `%`: the result has the sign of the divisor. */
export function modulo(dividend: number, divisor: number): number {
  return dividend - Math.floor(dividend / divisor) * divisor
}

export function lengthOf(value: LuaValue): number {
  if (typeof value === 'string') return value.length
  return tableOf(value).list.length
}

export function tableOf(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value
  throw new LuaError(`attempt to index ${kindOf(value)}`)
}

function asNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isNaN(number) ? undefined : number
}

function kindOf(value: LuaValue): string {
  if (value instanceof LuaTable) return 'a table'
  return value === undefined ? 'nil' : `a ${typeof value}`
}

function call(value: LuaValue): LuaFunction {
  if (typeof value === 'function') return value
  throw new LuaError(`attempt to call ${kindOf(value)}`)
}

const EVERYTHING = /[^%]+|%./g
/** `-` of Lua is a lazy star. A pattern with what is not here is refused. */
const CLASSES: Readonly<Record<string, string>> = {
  '%d': '\\d',
  '%S': '\\S',
  '%s': '\\s',
  '%w': '[A-Za-z\\d]',
  '%%': '%',
  '%[': '\\[',
  '%]': '\\]'
}
const expressions = new Map<string, RegExp>()

/** A pattern of Lua as an expression of JavaScript; both have the same sets, stars and captures. */
function expressionOf(pattern: string): RegExp {
  let expression = expressions.get(pattern)
  if (expression === undefined) {
    const source = pattern.replace(EVERYTHING, part => {
      const translated = part.startsWith('%') ? CLASSES[part] : part
      if (translated === undefined || /[-\\{}|]|\(\)/.test(part)) {
        throw new Error(`The simulation does not know the Lua pattern ${pattern}: add it to lua-values.ts.`)
      }
      return translated
    })
    expression = new RegExp(source, 's')
    expressions.set(pattern, expression)
  }
  return expression
}

function substring(text: string, first: number, last: number): string {
  const from = first < 0 ? Math.max(0, text.length + first) : Math.max(0, first - 1)
  return text.slice(from, last < 0 ? text.length + last + 1 : last)
}

function format(pattern: string, values: LuaValue[]): string {
  const rest = [...values]
  return pattern.replace(/%(?:\.(\d+)f|.)/g, (part, places?: string) => {
    if (part === '%s') return toText(rest.shift())
    if (places === undefined) throw new Error(`The simulation does not know ${part} of string.format.`)
    return toNumber(rest.shift()).toFixed(Number(places))
  })
}

const library = (functions: Record<string, LuaFunction>): LuaTable => {
  const table = new LuaTable()
  for (const [name, work] of Object.entries(functions)) table.set(name, work)
  return table
}

/** `math` takes numbers and gives one. */
const onNumbers =
  (work: (...numbers: number[]) => number): LuaFunction =>
  (...args) => [work(...args.map(toNumber))]

/** All that a script finds without `redis`, KEYS and ARGV. */
export const globals: Readonly<Record<string, LuaValue>> = {
  tonumber: value => [asNumber(value)],
  type: value => [value instanceof LuaTable ? 'table' : value === undefined ? 'nil' : typeof value],
  // A script may go on after a command that failed, not after a mistake of its own.
  pcall: (work, ...args) => {
    try {
      return [true, ...call(work)(...args)]
    } catch (error) {
      if (error instanceof ReplyError) return [false, error.message]
      throw error
    }
  },
  unpack: (table, from = 1, to = lengthOf(table)) => {
    const { list } = tableOf(table)
    return Array.from({ length: toNumber(to) - toNumber(from) + 1 }, (_, i) => list[toNumber(from) - 1 + i])
  },
  pairs: table => [inTurn(tableOf(table).entries())],
  ipairs: table => {
    const { list } = tableOf(table)
    const end = list.indexOf(undefined)
    return [inTurn((end < 0 ? list : list.slice(0, end)).map((value, index) => [index + 1, value]))]
  },
  math: library({
    ceil: onNumbers(Math.ceil),
    floor: onNumbers(Math.floor),
    max: onNumbers(Math.max),
    min: onNumbers(Math.min)
  }),
  string: library({
    sub: (text, first, last = -1) => [substring(toText(text), toNumber(first), toNumber(last))],
    match: (text, pattern) => {
      const found = expressionOf(toText(pattern)).exec(toText(text))
      if (found === null) return [undefined]
      return found.length === 1 ? [found[0]] : found.slice(1)
    },
    find: (text, part, first, isPlain) => {
      if (first !== 1 || isPlain !== true) throw new Error('The simulation finds plain text from the start only.')
      const place = toText(text).indexOf(toText(part))
      return place < 0 ? [undefined] : [place + 1, place + toText(part).length]
    },
    gsub: (text, pattern, by) => [
      toText(text).replace(new RegExp(expressionOf(toText(pattern)), 'gs'), () => toText(by))
    ],
    format: (pattern, ...values) => [format(toText(pattern), values)]
  }),
  table: library({
    sort: (table, isBefore) => {
      const order: LuaFunction = isBefore === undefined ? (a, b) => [isLess(a, b)] : call(isBefore)
      tableOf(table).list.sort((a, b) => (isTrue(order(a, b)[0]) ? -1 : isTrue(order(b, a)[0]) ? 1 : 0))
      return []
    }
  })
}

function inTurn(rows: LuaValue[][]): LuaFunction {
  let next = 0
  return () => rows[next++] ?? []
}
