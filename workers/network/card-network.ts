/**
 * The card network behind `CardNetwork`: the acquirer's HTTP API in production, the simulator everywhere else.
 *
 * This file only wires the pure transformers (sale-request, call-answers, query-answers) to the transports. Nothing is sent
 * twice here: whether a call may be repeated is the caller's decision, because only the caller knows what is at stake.
 */
import type { Lease } from '../../machines/lease.js'
import type { CardNetwork, QueryOutcome } from '../../machines/network.js'
import { UNAVAILABLE_CENTS } from '../../machines/test-cards.js'
import type { Config } from '../../runtime/config.js'
import { withCrashPoints } from '../../runtime/crash-points.js'
import { readAuthorisation, readCapture, readVoid } from './call-answers.js'
import type { CircuitOptions } from './circuit-breaker.js'
import { probeOnce, WatchedTransport, type WatchingProcess, watchNetwork } from './network-watch.js'
import { type FoundSale, type NoAnswer, readSale, readSaleIds } from './query-answers.js'
import { saleBody } from './sale-request.js'
import { createTransport, type Transport } from './transport.js'

export type NetworkConfig = Pick<
  Config,
  | 'networkTransactionUrl'
  | 'networkQueryUrl'
  | 'networkMerchantId'
  | 'networkMerchantKey'
  | 'networkConnectTimeoutMs'
  | 'networkAuthoriseTimeoutMs'
  | 'networkTimeoutMs'
  | 'networkCircuitFailures'
  | 'environment'
>

/** Of one process to one base URL. */
const CONNECTIONS_MAX = 1_024

/** A query of this order books nothing and finds nothing: no payment has the nil UUID. */
const PROBE_OF_QUERIES = `/1/sales?merchantOrderId=${'0'.repeat(32)}`

/**
 * Opens connections on demand. `process` warns when the network does not answer or refuses our credentials. `close` waits
 * for the calls in flight; abort them first for a quick end. `isCircuitOpen`: new sales are refused before they are sent.
 * `isUnusable`: the last calls of this process got no answer, or were refused.
 */
export function createCardNetwork(
  config: NetworkConfig,
  process?: WatchingProcess
): CardNetwork & { close(): Promise<void>; isCircuitOpen(): boolean; isUnusable(): boolean } {
  const watched = (baseUrl: string, probePath: string, circuit?: CircuitOptions): WatchedTransport =>
    new WatchedTransport(transportOf(config, baseUrl), {
      baseUrl,
      probePath,
      timeoutMs: config.networkTimeoutMs,
      circuit
    })
  const transactions = watched(config.networkTransactionUrl, '/', {
    failuresMax: config.networkCircuitFailures,
    environment: config.environment,
    log: process?.log
  })
  const queries = watched(config.networkQueryUrl, PROBE_OF_QUERIES)
  if (process !== undefined) watchNetwork([transactions, queries], process)
  return {
    ...networkOver(transactions, queries, config),
    isCircuitOpen: () => transactions.isCircuitOpen,
    isUnusable: () => transactions.isUnusable
  }
}

/** Asks both hosts once, and books nothing. Resolves to a sentence for each that does not answer, or refuses our credentials. */
export async function probeCardNetwork(config: NetworkConfig): Promise<readonly string[]> {
  const hosts = [
    [config.networkTransactionUrl, '/'],
    [config.networkQueryUrl, PROBE_OF_QUERIES]
  ] as const
  const found = hosts.map(async ([baseUrl, probePath]) => {
    const transport = transportOf(config, baseUrl)
    const sentence = await probeOnce(transport, { baseUrl, probePath, timeoutMs: config.networkTimeoutMs })
    await transport.close()
    return sentence
  })
  return (await Promise.all(found)).filter(sentence => sentence !== undefined)
}

function transportOf(config: NetworkConfig, baseUrl: string): Transport {
  return createTransport({
    baseUrl,
    headers: {
      MerchantId: config.networkMerchantId,
      MerchantKey: config.networkMerchantKey,
      'Content-Type': 'application/json',
      Accept: 'application/json',
      // Without it any encoding may come, and none is read here (RFC 9110, 12.5.3).
      'Accept-Encoding': 'identity'
    },
    connections: CONNECTIONS_MAX,
    connectTimeoutMs: config.networkConnectTimeoutMs
  })
}

/** The adapter over given transports: the simulation runs it without a socket. */
export function networkOver(
  transactions: Transport,
  queries: Transport,
  config: Pick<Config, 'networkAuthoriseTimeoutMs' | 'networkTimeoutMs' | 'environment'>
): CardNetwork & { close(): Promise<void> } {
  const get = (path: string, lease: Lease) =>
    queries.send({ method: 'GET', path, body: null, timeoutMs: config.networkTimeoutMs }, lease)
  const put = (path: string, lease: Lease) =>
    transactions.send({ method: 'PUT', path, body: null, timeoutMs: config.networkTimeoutMs }, lease)
  const getSale = async (saleId: string, lease: Lease) => readSale(await get(salePath(saleId), lease), saleId)

  return {
    authorise: (request, lease) =>
      withCrashPoints('network.authorise', async () => {
        if (config.environment === 'test' && request.amountCents === UNAVAILABLE_CENTS) {
          return { kind: 'not_sent', reason: 'the amount stands for an open circuit', isCircuitOpen: true }
        }
        const body = saleBody(request)
        if (body === null) return { kind: 'rejected', code: 'brand_not_supported' }
        const timeoutMs = config.networkAuthoriseTimeoutMs
        const exchange = await transactions.send({ method: 'POST', path: '/1/sales/', body, timeoutMs }, lease)
        return readAuthorisation(exchange, request)
      }),

    capture: (saleId, amountCents, lease) =>
      withCrashPoints('network.capture', async () =>
        readCapture(await put(`${salePath(saleId)}/capture?amount=${amountCents}`, lease), saleId)
      ),

    void: (saleId, amountCents, lease) =>
      withCrashPoints('network.void', async () => {
        const amount = amountCents === null ? '' : `?amount=${amountCents}`
        const isWhole = amountCents === null
        return readVoid(await put(`${salePath(saleId)}/void${amount}`, lease), saleId, { isWhole })
      }),

    query: (orderId, lease) =>
      withCrashPoints('network.query', async () => {
        const list = readSaleIds(await get(`/1/sales?merchantOrderId=${encodeURIComponent(orderId)}`, lease))
        if (list.kind !== 'listed') return list
        const answers = await Promise.all(list.saleIds.map(saleId => getSale(saleId, lease)))
        return allOrNothing(answers.map(answer => ofOrder(answer, orderId)))
      }),

    findOrderId: (saleId, lease) =>
      withCrashPoints('network.findOrderId', async () => {
        const answer = await getSale(saleId, lease)
        return answer.kind === 'sale' ? answer.orderId : null
      }),

    async close() {
      await Promise.all([transactions.close(), queries.close()])
    }
  }
}

/** All sales of the order, or no answer: a part of them would be taken for all. */
function allOrNothing(answers: readonly (FoundSale | NoAnswer)[]): QueryOutcome {
  const missing = answers.find(answer => answer.kind === 'no_answer')
  if (missing !== undefined) return missing
  const [first, ...rest] = answers.flatMap(answer => (answer.kind === 'sale' ? answer.sale : []))
  return first === undefined ? { kind: 'absent' } : { kind: 'found', sales: [first, ...rest] }
}

/** A sale that names another order is no answer about this one. */
function ofOrder(answer: FoundSale | NoAnswer, orderId: string): FoundSale | NoAnswer {
  if (answer.kind === 'no_answer' || answer.orderId === null || answer.orderId === orderId) return answer
  return { kind: 'no_answer', reason: 'The card network gave a sale of another order.' }
}

function salePath(saleId: string): string {
  return `/1/sales/${encodeURIComponent(saleId)}`
}
