/**
 * Texts that a merchant sets on a create and reads back. Requests, answers, webhook events and their documents follow from
 * one row each (docs/CHANGING.md, A text that merchants set).
 */
import {
  type MerchantText,
  type MerchantTexts,
  type TextInEvents,
  textsInEvents
} from '../machines/merchant-text-rules.js'
import { textOrNull } from './answer-fields.js'
import { about, orNull, textUpTo } from './request-fields.js'
import type { Schema } from './schema.js'

interface TextRow {
  readonly name: string
  readonly lengthMax: number
  readonly means: string
}

const rows = {
  statementDescriptor: {
    name: 'statement_descriptor',
    lengthMax: 22,
    means: "text on the buyer's statement"
  }
} as const satisfies Readonly<Record<MerchantText, TextRow>>

type Term = MerchantText
type Rows = typeof rows
type Name = Rows[Term]['name']
type EventName = Rows[TextInEvents]['name']

const terms = Object.keys(rows) as Term[]

/** An object with a field for each of these texts. */
function each<Field extends Name, T extends Term, Value>(of: readonly T[], make: (term: T) => Value) {
  const made: Partial<Record<Name, Value>> = {}
  for (const term of of) made[rows[term].name] = make(term)
  return made as Readonly<Record<Field, Value>>
}

/** Their schemas in the body of a create. */
export const requestTexts = each<Name, Term, Schema<string | null>>(terms, term =>
  about(rows[term].means, orNull(textUpTo(rows[term].lengthMax)))
)

/** Their schemas in answers. */
export const answerTexts = each<Name, Term, Schema<string | null>>(terms, () => textOrNull('as sent'))

/** Their schemas in webhook events. */
export const eventTexts = each<EventName, TextInEvents, Schema<string | null>>(textsInEvents, () =>
  textOrNull('as sent')
)

/** Of the body of a create. */
export function termsOfTexts(body: Readonly<Partial<Record<Name, string | null>>>): MerchantTexts {
  const found = terms.map(term => [term, body[rows[term].name] ?? null])
  return Object.fromEntries(found) as MerchantTexts
}

/** As an answer says them. */
export function presentTexts(given: MerchantTexts): Readonly<Record<Name, string | null>> {
  return each(terms, term => given[term])
}

/** As a webhook event says them. */
export function presentEventTexts(
  given: Pick<MerchantTexts, TextInEvents>
): Readonly<Record<EventName, string | null>> {
  return each(textsInEvents, (term: TextInEvents) => given[term])
}
