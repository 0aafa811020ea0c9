import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { merchantRoutes } from '../../../api/http/api-app.js'
import { listPaymentsQuery } from '../../../contract/list-payments.js'
import { routes } from '../../../contract/routes.js'
import { isRecord } from '../../../runtime/json.js'
import { openApiDocument, tokensDocument } from '../../../scripts/docs/openapi/document.js'
import { documents } from '../../../scripts/docs/openapi/document-files.js'
import { limitParameter } from '../../../scripts/docs/openapi/requests.js'
import { demoCustomer } from '../../../scripts/start/demo-customer.js'
import { problemsOf, schemaProblems } from '../../support/documented-answers.js'

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

/** Every object of the document but those in examples. */
const schemasBelow = (value: unknown): Record<string, unknown>[] => {
  if (Array.isArray(value)) return value.flatMap(schemasBelow)
  if (!isRecord(value)) return []
  const inner = Object.entries(value).filter(([key]) => !['example', 'examples'].includes(key))
  return [value, ...inner.flatMap(([, one]) => schemasBelow(one))]
}

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

  it('leaves out what generators get wrong: defaults, and rules for several types at once', () => {
    const wrong = schemasBelow(openApiDocument()).filter(
      schema => 'default' in schema || (Array.isArray(schema['type']) && schema['type'].length > 2)
    )
    expect(wrong).to.deep.equal([])
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

describe('the check of every answer against docs/openapi.json', () => {
  const error = { code: 'not_found', message: '', retryable: false, request_id: 'f2ddc5a8-4a4e-4f43-a1c5-0d2cbbe7b1d0' }
  const answer = (status: number, body: unknown, headers = {}): Response =>
    new Response(JSON.stringify(body), { status, headers })

  it('accepts what is documented, and ignores undocumented routes', async () => {
    expect(await problemsOf('GET', '/v1/payments/1', answer(404, { error }))).to.deep.equal([])
    expect(await problemsOf('DELETE', '/v1/payments/1', answer(405, {}))).to.deep.equal([])
    expect(await problemsOf('GET', '/elsewhere', answer(418, {}))).to.deep.equal([])
  })

  const wrong: readonly (readonly [string, Response, RegExp, count?: number])[] = [
    ['status', answer(418, { error }), /a status that is not documented: 418/],
    ['field', answer(404, { error: { ...error, hint: '' } }), /at \/error: must NOT have additional properties.*hint/],
    ['missing field', answer(404, { error: { ...error, message: undefined } }), /at \/error: .*'message'/],
    [
      'error code',
      answer(404, { error: { ...error, code: 'gone' } }),
      /at \/error\/code: .*allowedValues.*not_found/,
      2
    ],
    ['code of another answer', answer(404, { error: { ...error, code: 'unauthorized' } }), /the code unauthorized/],
    ['header', answer(404, { error }, { 'Idempotent-Replayed': 'true' }), /the header idempotent-replayed/],
    ['header that is known nowhere', answer(404, { error }, { 'X-Elsewhere': '1' }), /the header x-elsewhere/]
  ]
  for (const [what, response, problem, count = 1] of wrong) {
    it(`finds what the document does not say: ${what}`, async () => {
      const problems = await problemsOf('GET', '/v1/payments/1', response)
      expect(problems).to.have.length(count)
      expect(problems[0]).to.match(problem)
    })
  }
})
