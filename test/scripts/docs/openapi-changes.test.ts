/** Goal: a client of the last release works. The documents only add to those of the last release (test/scripts/docs/released). */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect } from 'chai'
import { documents } from '../../../scripts/docs/openapi/document-files.js'
import { removals } from './openapi-changes.js'

type Json = Record<string, unknown>

const copyOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json

/** What only a request that the last release does not know is answered. */
const OF_NEW_REQUESTS: readonly string[] = ['brand', 'last4'].map(
  field => `POST /v1/tokens 201.${field} was string and is string or null`
)

describe('the documents against those of the last release', () => {
  for (const [file, document] of documents()) {
    it(`${file} takes nothing away`, () => {
      const released = JSON.parse(readFileSync(`test/scripts/docs/released/${basename(file)}`, 'utf8')) as Json
      const found = removals(released, document).filter(removal => !OF_NEW_REQUESTS.includes(removal))
      expect(found).to.deep.equal([])
    })
  }
})

describe('a change of a document', () => {
  const released = documents().get('docs/openapi.json') ?? {}
  /** The document with one text exchanged. */
  const changed = (
    change: (document: {
      paths: Json
      components: { schemas: Record<string, { properties: Json; required: string[] }> }
    }) => void
  ): Json => {
    const document = copyOf(released)
    change(document as never)
    return document
  }

  it('ignores an added route, field, status or optional parameter', () => {
    const more = changed(({ paths, components: { schemas } }) => {
      paths['/v1/more'] = {}
      ;(schemas['Payment'] ?? { properties: {} as Json }).properties['more'] = { type: 'string' }
      ;(schemas['CreatePaymentRequest'] ?? { properties: {} as Json }).properties['more'] = { type: 'string' }
    })
    expect(removals(released, more)).to.deep.equal([])
  })

  const wrong: readonly (readonly [string, (text: string) => string, RegExp])[] = [
    [
      'a route that is gone',
      text => text.replaceAll('/v1/capabilities', '/v1/abilities'),
      /GET \/v1\/capabilities is gone/
    ],
    ['a renamed operation', text => text.replaceAll('"readPayment"', '"getPayment"'), /has another operationId/],
    ['a renamed field of an answer', text => text.replaceAll('captured_cents', 'captured'), /captured_cents is gone/],
    ['a lost value', text => text.replaceAll(/"charged_back",(?="expired")/g, ''), /lacks the value charged_back/],
    ['a lower limit', text => text.replaceAll('999999999999', '99999999'), /another maximum/],
    ['a shorter text', text => text.replaceAll('"maxLength":120', '"maxLength":100'), /another maxLength/],
    [
      'another size of numbers',
      text => text.replaceAll('"int64"', '"int32"'),
      /was integer \(int64\) and is integer \(int32\)/
    ],
    [
      'a field that is demanded',
      text => text.replaceAll('"required":["amount_cents",', '"required":["amount_cents","currency",'),
      /currency is demanded/
    ],
    ['a field that may be absent', text => text.replaceAll('"refunded_at",', ''), /refunded_at may be absent/],
    [
      'a parameter that is gone',
      text => text.replaceAll('"created_from"', '"since"'),
      /lacks the parameter query created_from/
    ],
    ['a header that is gone', text => text.replaceAll('"Location"', '"Place"'), /lacks the header Location/],
    ['a status that is gone', text => text.replaceAll('"202":', '"203":'), /202 is gone/]
  ]
  for (const [what, change, problem] of wrong) {
    it(`is found: ${what}`, () => {
      const problems = removals(released, JSON.parse(change(JSON.stringify(released))) as Json)
      expect(problems.join('\n')).to.match(problem)
    })
  }
})
