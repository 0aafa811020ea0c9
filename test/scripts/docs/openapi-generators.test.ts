/** Goal: what generators of clients get wrong is in no document. Each rule is a mistake that a generated client once had. */

import { Ajv } from 'ajv'
import { expect } from 'chai'
import { isRecord } from '../../../runtime/json.js'
import { documents } from '../../../scripts/docs/openapi/document-files.js'

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
