/**
 * Turns a JSON schema into a parser: unknown in, typed out, or one 400 that names every problem.
 *
 * Every field of a schema says all its rules in `rule`; rule-sentences.ts has a sentence for each one. Messages never repeat a
 * value.
 */
import { Ajv, type ErrorObject } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { FieldProblem } from '../../contract/errors.js'
import type { Schema } from '../../contract/schema.js'
import { holdsCardData, holdsCardNumber, isCardData, namesCardData } from '../../machines/card-data-in-text.js'
import { isCnpj, isCpf } from './cpf-cnpj.js'
import { sentenceOf } from './rule-sentences.js'
import { ServiceError } from './service-error.js'

/** Control characters, line separators, and lone surrogates. */
const UNWANTED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u
const EMAIL = fullFormats.email as RegExp

/** Bounds the answer, which must not be larger than the request. */
const PROBLEMS_MAX = 50
const PATH_LENGTH_MAX = 120

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  discriminator: true,
  allowUnionTypes: true,
  // Saves a tenth of the start. Strict mode finds mistakes in our own schemas.
  validateSchema: false
})
ajv.addKeyword('rule')
// For docs/openapi.json: what the code behind a schema checks, as far as a pattern can say it.
ajv.addKeyword('documentedPattern')
ajv.addFormat('text', value => !UNWANTED.test(value))
// Notes may have several lines, because they appear in JSON only.
ajv.addFormat('note', value => !UNWANTED.test(value.replace(/[\t\n\r]/g, '')))
ajv.addFormat('filled', value => /\S/.test(value) && !UNWANTED.test(value))
ajv.addFormat('email', EMAIL)
ajv.addFormat('date-time', fullFormats['date-time'])
ajv.addFormat('cpf-or-cnpj', value => isCpf(value) || isCnpj(value))
ajv.addFormat('metadata-key', value => value !== '__proto__' && /\S/.test(value) && !UNWANTED.test(value))
// Decision 22. `inside`: contains no card number; `alone`: is not just a card number; `key`: nor the name of card data.
ajv.addKeyword({
  keyword: 'noCard',
  validate: (kind: 'inside' | 'alone' | 'key', value: unknown) => {
    const text = String(value)
    if (kind === 'alone') return !isCardData(text)
    return !holdsCardData(text) && !(kind === 'key' && namesCardData(text))
  }
})

/** Makes a parser. It throws `ServiceError` `invalid_request` with all problems; `root` names the value as a whole. */
export function parserOf<T>(schema: Schema<T>, root: 'body' | 'query'): (value: unknown) => T {
  const isValid = ajv.compile<T>(schema)
  return value => {
    if (isValid(value)) return value
    throw new ServiceError('invalid_request', { fields: problemsOf(isValid.errors ?? [], root) })
  }
}

/** One problem per field, with a sentence for each of its broken rules. */
function problemsOf(errors: readonly ErrorObject[], root: string): FieldProblem[] {
  const problems = new Map<string, Set<string>>()
  for (const error of errors) {
    // Its details have the name of the property, and say more.
    if (error.keyword === 'propertyNames') continue
    const { path, message } = problemOf(error, root)
    const messages = problems.get(path) ?? new Set()
    if (messages.size === 0 && problems.size === PROBLEMS_MAX) break
    // A field that tells what kind an object is breaks two rules when it is missing, with one sentence.
    if (![...messages].some(earlier => earlier.endsWith(message))) problems.set(path, messages.add(message))
  }
  return [...problems].map(([path, messages]) => ({ path, message: [...messages].join('; ') }))
}

function problemOf(error: ErrorObject, root: string): FieldProblem {
  const params: Record<string, unknown> = error.params
  const parent: unknown = error.parentSchema
  switch (error.keyword) {
    case 'required': {
      const name = String(params['missingProperty'])
      return { path: pathOf(error, root, name), message: `is required: ${ruleOf(parent, name)}` }
    }
    case 'additionalProperties':
      return { path: pathOf(error, root, String(params['additionalProperty'])), message: 'is not a known field here' }
    case 'discriminator': {
      const name = String(params['tag'])
      return { path: pathOf(error, root, name), message: ruleOf(parent, name) }
    }
    default: {
      // A repeated parameter is an array, which its rule does not mention.
      const isSentTwice = root === 'query' && Array.isArray(error.data)
      const message = isSentTwice ? 'must be sent once' : (sentenceOf(error) ?? sentence(parent))
      return { path: pathOf(error, root, error.propertyName), message }
    }
  }
}

/** `/customer/address` and `state` become `customer.address.state`. */
function pathOf(error: ErrorObject, root: string, property?: string): string {
  const parts = error.instancePath
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const names = [...parts, ...(property === undefined ? [] : [property])]
  const path = names.map(name => (holdsCardNumber(name) ? '(a card number)' : name)).join('.')
  // Half of a character, which JSON may hold, would make an answer that strict clients can't read.
  return path === '' ? root : [...path.replace(/\p{Cs}/gu, '\ufffd')].slice(0, PATH_LENGTH_MAX).join('')
}

function ruleOf(parent: unknown, property: string): string {
  const properties = read(parent, 'properties') ?? read(read(read(parent, 'oneOf'), '0'), 'properties')
  return sentence(read(properties, property))
}

function sentence(schema: unknown): string {
  const rule = read(schema, 'rule')
  return typeof rule === 'string' ? rule : 'is not valid'
}

function read(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
