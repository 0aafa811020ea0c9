/** One and the same answer in every form that HTTP and JSON allow: it is read as it is meant, or it proves nothing. */
import { expect } from 'chai'
import type { CallOutcome, QueryOutcome } from '../../../machines/network.js'
import { createCardNetwork } from '../../../workers/network/card-network.js'
import { endlessLease } from '../../../workers/network/leases.js'
import { networkConfig, purchase } from '../../support/card-network.js'
import { type AnswerForm, answerForms } from '../../support/contrary-forms.js'
import {
  type ContrarySale,
  createdAnswer,
  errorAnswer,
  json,
  listAnswer,
  operationAnswer,
  recordOf,
  Wire,
  type WireAnswer
} from '../../support/contrary-wire.js'
import { type RawServer, startRawServer } from '../../support/raw-server.js'

const ORDER = '0193b4f0c7a87000a00000000000000a'
const sale: ContrarySale = {
  saleId: '24bc8366-fc31-4d6c-8555-17049a836a0f',
  orderId: ORDER,
  atMs: 0,
  askedCents: 10_000,
  isCaptureAsked: true,
  status: Wire.captured,
  amountCents: 10_000,
  capturedCents: 10_000,
  voidedCents: 2_500,
  currency: 'BRL',
  kinds: []
}
const denied = createdAnswer({ ...sale, status: Wire.denied })
const voided = { ...sale, status: Wire.voided, voidedCents: 10_000 }

type Network = ReturnType<typeof createCardNetwork>
type Answers = readonly [WireAnswer, ...WireAnswer[]]

const authorise = (network: Network) =>
  network.authorise(purchase({ orderId: ORDER, amountCents: 10_000 }), endlessLease)
const capture = (network: Network) => network.capture(sale.saleId, 10_000, endlessLease)
const refundAll = (network: Network) => network.void(sale.saleId, null, endlessLease)
const query = (network: Network) => network.query(ORDER, endlessLease)

/** What is called, and what comes as an answer to each request. */
const calls: Readonly<Record<string, readonly [(network: Network) => Promise<CallOutcome | QueryOutcome>, Answers]>> = {
  'an approved sale': [authorise, [createdAnswer(sale)]],
  'a declined sale': [authorise, [denied]],
  'a refused sale': [authorise, [errorAnswer(400, 126, 'Message')]],
  'a capture': [capture, [operationAnswer(sale, '6')]],
  'a refused capture': [capture, [errorAnswer(400, 307, 'Message')]],
  'a void': [refundAll, [operationAnswer(voided, '9')]],
  'a refused void': [refundAll, [operationAnswer(sale, '102')]],
  'a query': [query, [listAnswer([sale]), json(200, recordOf(sale))]],
  'a query that finds nothing': [query, [errorAnswer(400, 318, 'Message')]]
}
/** For a slow machine. */
const LONG = { networkConnectTimeoutMs: 8_000, networkAuthoriseTimeoutMs: 8_000, networkTimeoutMs: 8_000 }
const PROVES_NOTHING = ['ambiguous', 'unproven', 'no_answer']

describe('an answer of the card network', () => {
  let server: RawServer
  let network: Network

  const outcomeIn = async (form: AnswerForm, [call, answers]: (typeof calls)[string]) => {
    server = await startRawServer({
      onRequest: (socket, index) => void socket.end(form.bytes(answers[index] ?? answers[0]))
    })
    network = createCardNetwork(networkConfig(server.url, LONG))
    try {
      return await call(network)
    } finally {
      await server.stop()
      await network.close()
    }
  }

  for (const [name, form] of Object.entries(answerForms)) {
    it(`that comes ${name} is ${form.isReadable ? 'read' : 'read as it is meant, or proves nothing'}`, async () => {
      const plain: AnswerForm = {
        isReadable: true,
        bytes: ({ status, body }) =>
          Buffer.from(`HTTP/1.1 ${status} Any\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
      }
      for (const [what, call] of Object.entries(calls)) {
        const [meant, outcome] = [await outcomeIn(plain, call), await outcomeIn(form, call)]
        expect(PROVES_NOTHING, what).not.to.include(meant.kind)
        if (!form.isReadable && PROVES_NOTHING.includes(outcome.kind)) continue
        expect(withoutTid(outcome), what).to.deep.equal(withoutTid(meant))
      }
    })
  }
})

/** The one field that a form makes longer than it can be stored. */
function withoutTid(outcome: CallOutcome | QueryOutcome): unknown {
  return JSON.parse(JSON.stringify(outcome).replace(/"tid":"\d{1,100}"/g, '"tid":null'))
}
