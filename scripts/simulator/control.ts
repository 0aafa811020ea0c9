/** The control routes of the simulator, for tests and operators. No acquirer has them. */
import { randomInt } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isRecord, parseJson } from '../../runtime/json.js'
import { type Faults, parseFaults } from './faults.js'
import { type Ledger, saleLine } from './ledger.js'
import { CHARGEBACK, type Notifier } from './notifier.js'

/** What the control routes read and change. */
export interface Controlled {
  readonly ledger: Ledger
  readonly notifier: Notifier
  faults: Faults
}

/** Lines that are written to a response at once. */
const LINES_PER_CHUNK = 500

interface Reply {
  readonly status: number
  readonly body: object
}

/** One request to a control route. */
export interface ControlRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Answers one request to `/simulator/...`. */
export async function answerControl(
  simulator: Controlled,
  request: ControlRequest,
  response: ServerResponse
): Promise<void> {
  const route = `${request.method} ${request.path}`
  const foreign = refusalOfForeign(request)
  if (foreign === null && route === 'GET /simulator/sales') return writeSales(simulator.ledger, response)
  const { status, body } = foreign ?? replyTo(route, simulator, request.body)
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(`${JSON.stringify(body)}\n`)
}

/** An address of this machine, or a name without dots, such as `localhost` or a service of compose. No public site has one. */
const OWN_HOST = /^([a-z0-9-]+|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/**
 * The routes have no password, and browsers on this machine reach them. A page of another site has another Origin,
 * another Host after DNS rebinding, or the content type of a form when it sends no Origin.
 */
function refusalOfForeign({ method, headers }: ControlRequest): Reply | null {
  const { host = '', origin, 'content-type': type = '' } = headers
  if (!OWN_HOST.test(host)) {
    return refusal(
      403,
      'forbidden',
      'The simulator is controlled from its own machine. Call it as 127.0.0.1 or localhost.'
    )
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    return refusal(
      403,
      'forbidden',
      'Pages of other origins cannot control the simulator. Send the request without Origin.'
    )
  }
  if (method !== 'GET' && !/^application\/json *(;|$)/i.test(type)) {
    return refusal(415, 'unsupported_media_type', 'Send the body as JSON, with Content-Type: application/json.')
  }
  return null
}

function replyTo(route: string, simulator: Controlled, body: string): Reply {
  switch (route) {
    case 'GET /simulator/faults':
      return { status: 200, body: simulator.faults }
    case 'PUT /simulator/faults':
      return replaceFaults(simulator, body)
    case 'POST /simulator/chargebacks':
      return chargeBack(simulator, body)
    default:
      return refusal(404, 'not_found', 'The simulator has GET sales, GET and PUT faults, POST chargebacks.')
  }
}

function replaceFaults(simulator: Controlled, body: string): Reply {
  const read = parseFaults(parseJson(body))
  if ('problems' in read) {
    const message = 'The faults are as they were before. Correct the fields and send the whole set again.'
    return refusal(400, 'invalid_request', message, read.problems)
  }
  simulator.faults = read.faults
  return { status: 200, body: read.faults }
}

/** Disputes the newest captured sale of an order. A repeated request sends the notification of the same case again. */
function chargeBack(simulator: Controlled, body: string): Reply {
  const fields = parseJson(body)
  const orderId = isRecord(fields) ? fields['merchant_order_id'] : undefined
  if (typeof orderId !== 'string') {
    const problem = { path: 'merchant_order_id', message: 'must be the order id of a sale' }
    return refusal(400, 'invalid_request', 'Which sale was disputed is missing.', [problem])
  }
  const sales = simulator.ledger.ofOrder(orderId)
  if (sales.length === 0) return refusal(404, 'not_found', 'There is no sale with this merchant_order_id.')
  const sale = sales.findLast(candidate => candidate.capturedAmount > 0)
  if (sale === undefined) {
    return refusal(409, 'invalid_state', 'Nothing of this order was captured, so nothing can be disputed.')
  }
  const chargebackCase = sale.chargebackCase ?? String(randomInt(1_000_000_000)).padStart(9, '0')
  if (sale.chargebackCase === null) simulator.ledger.book({ ...sale, chargebackCase })
  simulator.notifier.notify(sale.paymentId, CHARGEBACK)
  return {
    status: 201,
    body: {
      merchant_order_id: orderId,
      payment_id: sale.paymentId,
      case_number: chargebackCase,
      amount: sale.capturedAmount
    }
  }
}

async function writeSales(ledger: Ledger, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson' })
  // A client may hang up before the end.
  await pipeline(Readable.from(chunksOfSales(ledger)), response).catch(() => undefined)
}

function* chunksOfSales(ledger: Ledger): Generator<string> {
  let lines: string[] = []
  for (const sale of ledger.sales()) {
    lines.push(`${JSON.stringify(saleLine(sale))}\n`)
    if (lines.length < LINES_PER_CHUNK) continue
    yield lines.join('')
    lines = []
  }
  yield lines.join('')
}

function refusal(status: number, code: string, message: string, fields?: readonly object[]): Reply {
  return { status, body: { error: { code, message, ...(fields === undefined ? {} : { fields }) } } }
}
