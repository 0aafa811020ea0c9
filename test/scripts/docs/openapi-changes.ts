/**
 * What a document takes away from those who use the released one. A request may demand no more than before and must take
 * what it took; an answer must have what it had. Additions are no problem.
 */
import { isRecord } from '../../../runtime/json.js'

type Json = Readonly<Record<string, unknown>>
/** Who reads the value: the service (a request), or a client (an answer). */
type Side = 'request' | 'answer'

const record = (value: unknown): Json => (isRecord(value) ? value : {})
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Sentences, each with its place; none when every old client still works. */
export function removals(released: Json, current: Json): string[] {
  return Object.entries(record(released['paths'])).flatMap(([path, methods]) =>
    Object.entries(record(methods)).flatMap(([method, old]) => {
      const place = `${method.toUpperCase()} ${path}`
      const now = record(record(current['paths'])[path])[method]
      if (now === undefined) return [`${place} is gone`]
      return new Comparison(released, current).operation(place, record(old), record(now))
    })
  )
}

class Comparison {
  readonly #released: Json
  readonly #current: Json
  /** Schemas that are compared already: they refer to each other. */
  readonly #seen = new Set<string>()

  constructor(released: Json, current: Json) {
    this.#released = released
    this.#current = current
  }

  operation(place: string, old: Json, now: Json): string[] {
    return [
      ...(old['operationId'] === now['operationId'] ? [] : [`${place} has another operationId`]),
      ...this.#parameters(place, old, now),
      ...this.#body(place, record(old['requestBody']), record(now['requestBody'])),
      ...Object.entries(record(old['responses'])).flatMap(([status, answer]) => {
        const [before, after] = [
          this.#of(this.#released, answer),
          this.#of(this.#current, record(now['responses'])[status])
        ]
        const name = `${place} ${status}`
        if (Object.keys(after).length === 0) return [`${name} is gone`]
        const headers = Object.keys(record(before['headers'])).filter(header => !(header in record(after['headers'])))
        return [
          ...headers.map(header => `${name} lacks the header ${header}`),
          ...this.#schema(name, bodySchema(before), bodySchema(after), 'answer')
        ]
      })
    ]
  }

  #parameters(place: string, old: Json, now: Json): string[] {
    const before = this.#named(this.#released, old)
    const after = this.#named(this.#current, now)
    const demanded = [...after].filter(
      ([name, { required }]) => required === true && before.get(name)?.['required'] !== true
    )
    return [
      ...demanded.map(([name]) => `${place} demands the parameter ${name}`),
      ...[...before].flatMap(([name, parameter]) => {
        const other = after.get(name)
        if (other === undefined) return [`${place} lacks the parameter ${name}`]
        return this.#schema(`${place} ${name}`, record(parameter['schema']), record(other['schema']), 'request')
      })
    ]
  }

  #named(document: Json, operation: Json): Map<string, Json> {
    const parameters = list(operation['parameters']).map(one => this.#of(document, one))
    return new Map(parameters.map(parameter => [`${parameter['in']} ${parameter['name']}`, parameter]))
  }

  #body(place: string, old: Json, now: Json): string[] {
    if (now['required'] === true && old['required'] !== true) return [`${place} demands a body`]
    return this.#schema(`${place} body`, bodySchema(old), bodySchema(now), 'request')
  }

  #schema(place: string, given: Json, other: Json, side: Side): string[] {
    const key = `${side} ${given['$ref']}`
    if ('$ref' in given && this.#seen.has(key)) return []
    this.#seen.add(key)
    const [old, now] = [this.#of(this.#released, given), this.#of(this.#current, other)]
    return [
      ...typeProblems(place, old, now, side),
      ...valueProblems(place, old, now, side),
      ...(side === 'request' ? limitProblems(place, old, now) : []),
      ...requiredProblems(place, old, now, side),
      ...this.#parts(place, old, now, side)
    ]
  }

  #parts(place: string, old: Json, now: Json, side: Side): string[] {
    const fields = Object.entries(record(old['properties'])).flatMap(([name, field]) => {
      const other = record(now['properties'])[name]
      if (other === undefined) return [`${place}.${name} is gone`]
      return this.#schema(`${place}.${name}`, record(field), record(other), side)
    })
    const variants = list(old['oneOf']).flatMap((variant, index) =>
      this.#schema(`${place} variant ${index + 1}`, record(variant), record(list(now['oneOf'])[index]), side)
    )
    const items = 'items' in old ? this.#schema(`${place}[]`, record(old['items']), record(now['items']), side) : []
    return [...fields, ...variants, ...items]
  }

  #of(document: Json, value: unknown): Json {
    const reference = record(value)['$ref']
    if (typeof reference !== 'string') return record(value)
    return record(
      reference
        .slice(2)
        .split('/')
        .reduce<unknown>((inner, part) => record(inner)[part], document)
    )
  }
}

function bodySchema(content: Json): Json {
  return record(record(record(content['content'])['application/json'])['schema'])
}

/** A request takes at least the types of before, an answer has no others. */
function typeProblems(place: string, old: Json, now: Json, side: Side): string[] {
  const [before, after] = [typesOf(old), typesOf(now)]
  const isKept =
    side === 'request' ? before.every(one => after.includes(one)) : after.every(one => before.includes(one))
  return isKept ? [] : [`${place} was ${before.join(' or ')} and is ${after.join(' or ')}`]
}

function typesOf({ type, nullable, format }: Json): string[] {
  const types = [type, ...(nullable === true ? ['null'] : [])].flat().filter(one => one !== undefined)
  return types.map(one => (one !== 'null' && format !== undefined ? `${one} (${format})` : String(one)))
}

function valueProblems(place: string, old: Json, now: Json, side: Side): string[] {
  const lost = ['enum', 'x-extensible-enum'].flatMap(key => {
    const after = list(now[key])
    const isOpened = side === 'request' && !(key in now)
    return isOpened ? [] : list(old[key]).filter(value => !after.includes(value))
  })
  const isClosed = 'enum' in now && !('enum' in old) && !('const' in old)
  return [
    ...lost.map(value => `${place} lacks the value ${String(value)}`),
    ...(isClosed ? [`${place} is closed to other values`] : [])
  ]
}

function limitProblems(place: string, old: Json, now: Json): string[] {
  const isNarrower = (key: string, sign: number): boolean =>
    key in now && (!(key in old) || sign * Number(now[key]) > sign * Number(old[key]))
  const lower = ['minimum', 'minLength'].filter(key => isNarrower(key, 1))
  const upper = ['maximum', 'maxLength', 'maxProperties'].filter(key => isNarrower(key, -1))
  const pattern = 'pattern' in now && now['pattern'] !== old['pattern'] ? ['pattern'] : []
  return [...lower, ...upper, ...pattern].map(key => `${place} has another ${key}: ${old[key]} became ${now[key]}`)
}

function requiredProblems(place: string, old: Json, now: Json, side: Side): string[] {
  const [before, after] = [list(old['required']), list(now['required'])]
  const wrong =
    side === 'request' ? after.filter(one => !before.includes(one)) : before.filter(one => !after.includes(one))
  return wrong.map(name => `${place}.${String(name)} ${side === 'request' ? 'is demanded' : 'may be absent'}`)
}
