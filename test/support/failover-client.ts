/**
 * A merchant's server as it should be written: it knows several addresses of the API, and a request whose fate is
 * unknown is sent again, to the next address, under the same Idempotency-Key.
 */
import { randomUUID } from 'node:crypto'
import { delay } from '../../runtime/delay.js'
import type { PaymentView } from './merchant.js'

export interface FinalAnswer {
  readonly status: number
  readonly payment: PaymentView
  /** Times the request was sent: above 1 a connection had failed, or the answer was 503. */
  readonly tries: number
  /** Every status on the way, 0 for a failed connection. */
  readonly statuses: readonly number[]
}

const RETRY_GAP_MS = 50

/** Sends until there is an answer that is not 503 / 429 / 409 in progress, for `deadlineMs` at most. */
export async function postSurely(
  addresses: readonly string[],
  request: { path: string; apiKey: string; body: unknown; key?: string },
  deadlineMs = 20_000
): Promise<FinalAnswer> {
  const end = Date.now() + deadlineMs
  const statuses: number[] = []
  const key = request.key ?? randomUUID()
  for (let tries = 1; ; tries++) {
    const address = addresses[(tries - 1) % addresses.length] ?? ''
    const answer = await postOnce(address, { ...request, key })
    statuses.push(answer?.status ?? 0)
    if (answer !== null && ![409, 429, 503].includes(answer.status)) return { ...answer, tries, statuses }
    if (Date.now() > end) throw new Error(`No answer after ${tries} tries: ${statuses.join(', ')}`)
    await delay(RETRY_GAP_MS)
  }
}

async function postOnce(
  address: string,
  { path, apiKey, body, key }: { path: string; apiKey: string; body: unknown; key: string }
): Promise<{ status: number; payment: PaymentView } | null> {
  try {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body)
    })
    return { status: response.status, payment: (await response.json()) as PaymentView }
  } catch {
    return null
  }
}
