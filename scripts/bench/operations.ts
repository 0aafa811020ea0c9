/** Throughput of the other operations: capture, refund, GET and list, closed loop. */
import { type LoadRequest, type LoadResult, runClosedLoop } from './load.js'
import type { ServiceSystem } from './systems.js'

export type Operation = 'capture' | 'refund' | 'read' | 'list'

/** Each figure on payments made for it; `reads` requests for GET and list. */
export async function measureOperations(
  service: ServiceSystem,
  options: { payments: number; connections: number }
): Promise<Record<Operation, LoadResult>> {
  const { payments: total, connections } = options
  const ids = await createHolds(service, total, connections)
  const at = (index: number): string => `/v1/payments/${ids[index % ids.length]}`
  const run = (source: (index: number) => LoadRequest): Promise<LoadResult> =>
    runClosedLoop(service.url, { total, connections }, source)
  return {
    capture: await run(index => post(service, `${at(index)}/capture`, `capture-${index}-${ids[index]}`)),
    refund: await run(index => post(service, `${at(index)}/cancel`, `refund-${index}-${ids[index]}`)),
    read: await run(index => get(service, at(index))),
    list: await run(() => get(service, '/v1/payments?limit=20'))
  }
}

export function get(service: ServiceSystem, path: string): LoadRequest {
  return { method: 'GET', path, headers: { authorization: `Bearer ${service.demo.api_key}` }, body: null }
}

function post(service: ServiceSystem, path: string, key: string): LoadRequest {
  const headers = { authorization: `Bearer ${service.demo.api_key}`, 'idempotency-key': key }
  return { method: 'POST', path, headers, body: null }
}

async function createHolds(service: ServiceSystem, total: number, connections: number): Promise<string[]> {
  const source = await service.prepare(total)
  const hold = (index: number): LoadRequest => {
    const request = source(index)
    return { ...request, body: JSON.stringify({ ...JSON.parse(request.body ?? '{}'), capture: false }) }
  }
  await runClosedLoop(service.url, { total, connections }, hold)
  const ids: string[] = []
  let cursor: string | null = null
  while (ids.length < total) {
    const page = await readPage(service, cursor)
    ids.push(...page.items.map(payment => payment.id))
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  return ids.slice(0, total)
}

interface Page {
  readonly items: readonly { readonly id: string }[]
  readonly next_cursor: string | null
}

async function readPage(service: ServiceSystem, cursor: string | null): Promise<Page> {
  const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
  const url = `${service.url}/v1/payments?status=pre_authorized&limit=100${query}`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${service.demo.api_key}` } })
  return (await answer.json()) as Page
}
