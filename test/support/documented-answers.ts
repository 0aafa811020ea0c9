/**
 * Holds what the service answers against docs/openapi.json: from `holdAnswersAgainstDocument()` on, every `fetch` of a test
 * that meets a documented route fails when the document does not know the status, a field, a header or an error code of
 * the answer. So the document is tested by all tests, and a test that finds a new answer asks for its words.
 */
import { readFileSync } from 'node:fs'
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { SECURITY_HEADERS } from '../../api/http/middleware/answer.js'
import { isRecord } from '../../runtime/json.js'

type Json = Readonly<Record<string, unknown>>

const documents = ['docs/openapi.json', 'docs/openapi-tokens.json'].map(
  file => JSON.parse(readFileSync(file, 'utf8')) as Json
)
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: fullFormats })
for (const [index, document] of documents.entries()) ajv.addSchema(closed(document) as AnySchema, String(index))

/** Problems of an answer as sentences; none for a route that is not documented. */
export async function problemsOf(method: string, path: string, answer: Response): Promise<string[]> {
  const found = operationOf(method, path)
  if (found === null) return []
  const { operation, document } = found
  const documented = resolved(document, at(operation, 'responses', String(answer.status)))
  if (documented === undefined) return [`has a status that is not documented: ${answer.status}`]
  const content = at(documented, 'content', 'application/json')
  const text = await answer.text()
  if (content === undefined && text === '') return headerProblems(answer.headers, at(documented, 'headers'))
  const body: unknown = JSON.parse(text)
  return [
    ...headerProblems(answer.headers, at(documented, 'headers')),
    ...schemaProblems(at(content, 'schema', '$ref'), body, document),
    ...codeProblems(at(content, 'examples'), body)
  ]
}

/** From now on, in the whole process. */
export function holdAnswersAgainstDocument(): void {
  const plainFetch = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const answer = await plainFetch(input, init)
    const { pathname } = new URL(input instanceof Request ? input.url : input)
    const method = (input instanceof Request ? input.method : init?.method) ?? 'GET'
    // Servers that a test made itself have no such header. A copy that is not read would keep the answer from being cancelled.
    if (!answer.headers.has('X-Request-Id') || operationOf(method, pathname) === null) return answer
    const problems = await problemsOf(method, pathname, answer.clone())
    if (problems.length === 0) return answer
    throw new Error(
      `The answer ${answer.status} to ${method} ${pathname} is not as docs/openapi.json says: it ${problems.join('; it ')}.`
    )
  }
}

function operationOf(method: string, path: string): { operation: unknown; document: Json } | null {
  for (const document of documents) {
    for (const [template, operations] of Object.entries(record(document['paths']))) {
      const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`)
      const operation = at(operations, method.toLowerCase())
      if (pattern.test(path) && operation !== undefined) return { operation, document }
    }
  }
  return null
}

/** An answer has one of the codes that stand as its examples: the schema of errors is the same for all answers. */
function codeProblems(examples: unknown, body: unknown): string[] {
  if (!isRecord(examples)) return []
  const codes = Object.values(examples).map(example => at(example, 'value', 'error', 'code'))
  const code = at(body, 'error', 'code')
  return codes.includes(code) ? [] : [`has the code ${String(code)}, which is not documented for it: ${codes.join()}`]
}

/** Problems of a body under a schema of a document (`#/components/schemas/Payment`). */
export function schemaProblems(reference: unknown, body: unknown, document: Json = documents[0] ?? {}): string[] {
  const isValid: ValidateFunction | undefined = ajv.getSchema(`${documents.indexOf(document)}${String(reference)}`)
  if (isValid === undefined) throw new Error(`docs/openapi.json has no ${String(reference)}.`)
  if (isValid(body)) return []
  return (isValid.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `breaks a rule at ${instancePath || '/'}: ${message} ${JSON.stringify(params)}`
  )
}

/** What HTTP says of every answer, and what keeps browsers from misusing it. */
const HEADERS_OF_HTTP = new Set([
  ...['allow', 'connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding', 'vary'],
  ...SECURITY_HEADERS.filter((_, at) => at % 2 === 0).map(name => name.toLowerCase())
])

function headerProblems(headers: Headers, documented: unknown): string[] {
  const here = Object.keys(record(documented)).map(name => name.toLowerCase())
  return [...headers.keys()]
    .filter(name => !here.includes(name) && !HEADERS_OF_HTTP.has(name) && !name.startsWith('access-control-'))
    .map(name => `has the header ${name}, which is not documented for it`)
}

/** Documents leave room for new fields and values; a test does not. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isRecord(schema)) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const [type, known] = [schema['type'], schema['x-extensible-enum']]
  const values = Array.isArray(known) ? { enum: [...known, ...(Array.isArray(type) ? [null] : [])] } : {}
  const isOpen = isRecord(schema['properties']) && schema['additionalProperties'] === true
  return { ...inner, ...values, ...(isOpen && { additionalProperties: false }) }
}

/** What a reference within the document stands for. */
function resolved(document: Json, value: unknown): unknown {
  const reference = at(value, '$ref')
  return typeof reference === 'string' ? at(document, ...reference.slice(2).split('/')) : value
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value)
}

function record(value: unknown): Json {
  return isRecord(value) ? value : {}
}
