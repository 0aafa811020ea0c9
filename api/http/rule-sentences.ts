/**
 * The sentence for a broken rule of a field: one for each rule, so that a merchant can tell which one it was. `rule` of a
 * schema says all of them, for the docs, and is the sentence where the keyword says too little (a pattern, a list of values).
 */
import type { ErrorObject } from 'ajv'

type Sentence = (error: ErrorObject) => string | undefined

/** The words for a JSON type, for a value that is of another one. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string, in quotes',
  integer: 'a whole number, without quotes',
  number: 'a number, without quotes',
  boolean: 'true or false, without quotes'
}

const FORMATS: Readonly<Record<string, Sentence>> = {
  text: ({ data }) => unwantedIn(data),
  note: ({ data }) => unwantedIn(String(data).replace(/[\t\n\r]/g, ''), ' other than tabs and line breaks'),
  filled: ({ data }) => blankOr(data, unwantedIn(data)),
  'metadata-key': ({ data }) => (data === '__proto__' ? 'must be another key' : blankOr(data, unwantedIn(data))),
  email: () => 'must be a valid e-mail address, such as ada@example.com',
  'cpf-or-cnpj': ({ data, parentSchema }) => documentSentence(String(data), parentSchema?.['pattern'] !== undefined)
}

const DIGITS_ONLY = 'must be digits only, without dots and hyphens'

const NO_CARD: Readonly<Record<string, string>> = {
  inside: 'must not contain a card number, or a number that looks like one: put a letter directly before it',
  alone: 'must not be just a number that looks like a card number: put a letter before it',
  key: 'must be another key: this one is a card number, or the name of card data'
}

const sentences: Readonly<Record<string, Sentence>> = {
  type: typeSentence,
  maxLength: ({ params }) => `must have at most ${params['limit']} characters`,
  minLength: () => 'must not be empty',
  minimum: ({ params }) => `must be at least ${params['limit']}`,
  maximum: ({ params }) => `must be at most ${params['limit']}`,
  maxProperties: ({ params }) => `must have at most ${params['limit']} pairs`,
  format: error => FORMATS[String(error.schema)]?.(error),
  pattern: ({ parentSchema }) => (parentSchema?.['format'] === 'cpf-or-cnpj' ? DIGITS_ONLY : undefined),
  noCard: ({ schema }) => NO_CARD[String(schema)]
}

/** Undefined: the rule of the field says it better. */
export function sentenceOf(error: ErrorObject): string | undefined {
  return sentences[error.keyword]?.(error)
}

function typeSentence({ schema, data }: ErrorObject): string | undefined {
  const types = [schema].flat().map(String)
  const kinds = types.filter(type => type !== 'null')
  // The body as a whole, and a field that is an object, say what they may be.
  if (kinds[0] === 'object') return undefined
  if (kinds.length > 1) return 'must be a string, a number, true, false or null'
  const hint = typeof data === 'number' && kinds[0] === 'integer' ? 'a whole number' : TYPES[kinds[0] ?? '']
  if (hint === undefined) return undefined
  return data === null ? `must be ${hint}, not null` : `must be ${hint}`
}

function unwantedIn(data: unknown, butFor = ''): string {
  if (/\p{Cc}/u.test(String(data))) return `must not contain control characters${butFor}`
  return 'must not contain halves of characters (lone surrogates), U+2028 and U+2029'
}

function blankOr(data: unknown, otherwise: string): string {
  if (data === '') return 'must not be empty'
  return /\S/.test(String(data)) ? otherwise : 'must not be blank'
}

function documentSentence(text: string, isOfDigits: boolean): string | undefined {
  if (isOfDigits && !/^\d+$/.test(text)) return DIGITS_ONLY
  if (!/^[\dA-Z]+$/.test(text)) return 'must be digits and capital letters only, without dots and hyphens'
  if (text.length !== 11 && text.length !== 14)
    return `must have 11 characters (CPF) or 14 (CNPJ), and has ${text.length}`
  return 'must have valid check digits'
}
