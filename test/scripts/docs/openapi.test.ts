import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { merchantRoutes } from '../../../api/http/api-app.js'
import { listPaymentsQuery } from '../../../contract/list-payments.js'
import { routes } from '../../../contract/routes.js'
import { isRecord } from '../../../runtime/json.js'
import { openApiDocument, tokensDocument } from '../../../scripts/docs/openapi/document.js'
import { documents } from '../../../scripts/docs/openapi/document-files.js'
import { limitParameter } from '../../../scripts/docs/openapi/requests.js'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { schemaProblems } from '../../support/documented-answers.js'
import { removals } from './openapi-changes.js'

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': { readonly schema: { readonly $ref: string }; readonly example: unknown }
    }
  }
}

const operations = (): [name: string, Operation][] => {
  const paths = openApiDocument()['paths'] as Record<string, Record<string, Operation>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation
    ])
  )
}

interface Content {
  readonly schema: { readonly $ref: string }
  readonly example: unknown
  readonly examples: Readonly<Record<string, { readonly value: { readonly error: { readonly code: string } } }>>
}

interface Components {
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** Success with a body. */
const isAnswered = ([status, response]: [string, Readonly<Record<string, unknown>>]): boolean =>
  status.startsWith('2') && 'content' in response

const contentOf = (response: Readonly<Record<string, unknown>>): Content =>
  (response['content'] as { 'application/json': Content })['application/json']

describe('docs/openapi.json', () => {
  for (const file of documents().keys()) {
    it(`${file} is a document as its version of OpenAPI wants it`, async () => {
      const validator = new Validator()
      const { valid, errors } = await validator.validate(file)
      expect(errors ?? []).to.deep.equal([])
      expect(valid).to.equal(true)
      expect(validator.version).to.equal(file.includes('3.0') ? '3.0' : '3.1')
    })
  }

  it('has every route, and a name of its own for each', () => {
    const names = operations().map(([name]) => name)
    expect(names).to.have.length(merchantRoutes.length)
    expect(merchantRoutes.map(({ facts }) => facts)).to.have.members(Object.values(routes))
    expect(Object.keys(tokensDocument()['paths'] as object)).to.deep.equal(['/v1/tokens'])
    expect(new Set(operations().map(([, { operationId }]) => operationId)).size).to.equal(names.length)
  })

  it('has an example for every body, which keeps to its schema', () => {
    for (const [name, { requestBody }] of operations()) {
      if (requestBody === undefined) continue
      const { schema, example } = requestBody.content['application/json']
      expect(schemaProblems(schema.$ref, example), name).to.deep.equal([])
    }
  })

  it('has an example for every answer of 2xx, which keeps to its schema', () => {
    for (const [name, { responses }] of operations()) {
      for (const [status, response] of Object.entries(responses).filter(isAnswered)) {
        const { schema, example } = contentOf(response)
        expect(schemaProblems(schema.$ref, example), `${name} ${status}`).to.deep.equal([])
      }
    }
  })

  it('has one schema for all errors, and an example for each code of an answer', () => {
    const { components } = openApiDocument() as unknown as { components: Components }
    for (const [name, response] of Object.entries(components.responses)) {
      expect(name).to.match(/^([A-Z][a-z]+)+$/)
      const { schema, examples } = contentOf(response)
      expect(schema.$ref, name).to.equal('#/components/schemas/Error')
      const codes = [...new Set(Object.values(examples).map(({ value }) => value.error.code))]
      expect(response['description'], name).to.equal(codes.map(code => `\`${code}\``).join(', '))
    }
  })

  it('shows the limit of a list as the number that its text is', () => {
    const properties = listPaymentsQuery['properties']
    const limit = isRecord(properties) && isRecord(properties['limit']) ? properties['limit'] : {}
    const isTaken = (value: number): boolean => new RegExp(String(limit['pattern'])).test(String(value))
    const { minimum, maximum } = limitParameter
    expect([minimum - 1, minimum, maximum, maximum + 1].map(isTaken)).to.deep.equal([false, true, true, false])
  })

  const order = { amount_cents: 1_990, external_reference: 'order-1', customer: demoCustomer }
  const token = { source_type: 'token', token_id: 'tok_1' }
  const requests: readonly (readonly [string, object, isTaken: boolean])[] = [
    ['a token', { ...order, payment_source: token }, true],
    ['a stored card', { ...order, payment_source: { source_type: 'card', card_id: 'card_1', cvv: '123' } }, true],
    ['no source', order, false],
    ['a source of no kind', { ...order, payment_source: { token_id: 'tok_1' } }, false],
    ['a fraction of a cent', { ...order, payment_source: token, amount_cents: 0.5 }, false],
    ['a field that is not known', { ...order, payment_source: token, amount: 1 }, false],
    ['a blank reference', { ...order, payment_source: token, external_reference: ' ' }, false],
    ['an object as metadata', { ...order, payment_source: token, metadata: { basket: {} } }, false]
  ]
  for (const [what, body, isTaken] of requests) {
    it(`${isTaken ? 'takes' : 'refuses'} a payment with ${what}, as the service does`, () => {
      const problems = schemaProblems('#/components/schemas/CreatePaymentRequest', body)
      expect(problems.length === 0, problems.join()).to.equal(isTaken)
    })
  }
})

/** What only a request that the last release does not know is answered. */
const OF_NEW_REQUESTS: readonly string[] = ['brand', 'last4'].map(
  field => `POST /v1/tokens 201.${field} was string and is string or null`
)

/** Goal: a client of the last release works. The documents only add to those of the last release (test/scripts/docs/released). */
describe('the documents against those of the last release', () => {
  for (const [file, document] of documents()) {
    it(`${file} takes nothing away`, () => {
      const released = JSON.parse(readFileSync(`test/scripts/docs/released/${basename(file)}`, 'utf8')) as Json
      const found = removals(released, document).filter(removal => !OF_NEW_REQUESTS.includes(removal))
      expect(found).to.deep.equal([])
    })
  }
})

type Json = Readonly<Record<string, unknown>>

const record = (value: unknown): Json => (isRecord(value) ? value : {})

/** Every object below a value, but those of examples. */
const objectsBelow = (value: unknown): Json[] => {
  if (Array.isArray(value)) return value.flatMap(objectsBelow)
  if (!isRecord(value)) return []
  const inner = Object.entries(value).filter(([key]) => key !== 'example' && key !== 'examples')
  return [value, ...inner.flatMap(([, one]) => objectsBelow(one))]
}

/** The schemas by name, as far as `isWanted`; requests forbid what they do not know, answers do not. */
const schemasOf = (document: Json): [string, Json][] =>
  Object.entries(record(record(document['components'])['schemas'])).map(([name, schema]) => [name, record(schema)])
const REQUEST = /Request$|^PaymentSource|^(Customer|Address)$/

for (const [file, document] of documents()) {
  describe(`${file} in the hands of generators`, () => {
    const schemas = schemasOf(document)
    const answers = schemas.filter(([name]) => !REQUEST.test(name))

    it('leaves answers open: unknown fields, and unknown values of every text', () => {
      expect(answers.map(([name]) => name)).to.include.members(['Error', 'ErrorDetail', 'FieldProblem'])
      for (const [name, schema] of answers) {
        for (const one of objectsBelow(schema)) {
          const { type, properties } = one
          if (isRecord(properties)) expect(one['additionalProperties'], name).to.equal(true)
          if (type !== undefined)
            expect(one, name).not.to.have.any.keys('enum', 'const', 'pattern', 'maxLength', 'anyOf')
        }
      }
    })

    it('closes requests: the service refuses what they do not know', () => {
      const objects = schemas
        .filter(([name]) => REQUEST.test(name))
        .filter(([, { properties }]) => isRecord(properties))
      expect(objects).not.to.be.empty
      for (const [name, schema] of objects) expect(schema['additionalProperties'], name).to.equal(false)
    })

    it('says how large each number is: without a format it would have 32 bits', () => {
      const numbers = objectsBelow(document).filter(({ type }) =>
        [type].flat().some(one => /^(integer|number)$/.test(String(one)))
      )
      expect(numbers).not.to.be.empty
      for (const { format } of numbers) expect(format).to.be.oneOf(['int32', 'int64', 'double'])
      for (const [name, { properties }] of schemas) {
        for (const [field, schema] of Object.entries(record(properties)).filter(([key]) => key.endsWith('_cents'))) {
          expect(record(schema)['format'], `${name}.${field}`).to.equal('int64')
        }
      }
    })

    it('has no discriminator, no default, no rules for several types at once, and a type for each header', () => {
      for (const schema of objectsBelow(document)) {
        expect(schema).not.to.have.any.keys('discriminator', 'default')
        const { type } = schema
        if (Array.isArray(type)) expect(type).to.have.length(2).and.to.include('null')
      }
      const headers = Object.values(record(record(document['components'])['headers'])).map(record)
      for (const { schema } of headers) expect(record(schema)['type']).to.be.oneOf(['string', 'integer'])
    })

    it('names no schema as Go names its functions, and keeps one key and one address', () => {
      for (const [name] of schemas) expect(name).not.to.match(/^(New|Nullable|Ptr)|(WithDefaults|AllOf|OneOf)$/)
      expect(Object.keys(record(record(document['components'])['securitySchemes']))).to.have.length(1)
      expect(document['servers']).to.have.length(1)
      const operations = Object.values(record(document['paths'])).flatMap(path => Object.values(record(path)))
      for (const operation of operations) expect(operation).not.to.have.any.keys('servers', 'security')
    })

    it('gives each parameter an example that keeps to its rules, and each operation its own Idempotency-Key', () => {
      const ajv = new Ajv({ strict: false, validateFormats: false })
      const components = record(record(document['components'])['parameters'])
      const operations = Object.values(record(document['paths'])).flatMap(path => Object.values(record(path)))
      const parameters = operations
        .flatMap(operation => record(operation)['parameters'])
        .map(record)
        .map(({ $ref, ...own }) => (typeof $ref === 'string' ? record(components[$ref.split('/').at(-1) ?? '']) : own))
      for (const { name, schema, example } of parameters) {
        expect(example, String(name)).not.to.equal(undefined)
        expect(ajv.validate(record(schema), example), String(name)).to.equal(true)
      }
      const keys = parameters.filter(({ name }) => name === 'Idempotency-Key').map(({ example }) => example)
      expect(new Set(keys)).to.have.property('size', keys.length)
    })
  })
}
