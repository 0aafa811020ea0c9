// A mock server of an OpenAPI document: it answers the examples, and refuses requests that break the schemas.
//   node generators/mock.mjs FILE     prints its address
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { OpenAPIBackend } from 'openapi-backend'

const definition = JSON.parse(readFileSync(process.argv[2], 'utf8'))
// quick: openapi-backend could only check the document against OpenAPI 3.0.
const api = new OpenAPIBackend({ definition, quick: true, ajvOpts: { strict: false, validateFormats: false } })
api.register('validationFail', ({ validation }) => ({ status: 400, mock: { errors: validation.errors } }))
api.register('notImplemented', ({ operation }) => api.mockResponseForOperation(operation.operationId ?? ''))
await api.init()

const server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request) body += piece
  const [path, query = ''] = (request.url ?? '').split('?')
  const { status, mock } = await api.handleRequest({
    method: request.method ?? '',
    path: path ?? '',
    query,
    headers: request.headers,
    body
  })
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(mock))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`))
