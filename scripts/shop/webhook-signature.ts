/** Is a webhook from the payments service? The check that every receiver makes before it believes anything. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_S = 300

/** `header` is `X-Service-Signature`, `body` the bytes as they arrived: parsing and printing JSON again changes them. */
export function isAuthentic(header: string, body: Buffer, secret: string, nowMs: number): boolean {
  const parts = header.split(',').map(part => part.trim().split('='))
  const sentAt = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d+$/.test(sentAt) || Math.abs(nowMs / 1_000 - Number(sentAt)) > TOLERANCE_S) return false
  const expected = createHmac('sha256', secret).update(`${sentAt}.`).update(body).digest()
  // While a secret is being changed there are two signatures; one that fits is enough.
  return parts.some(([name, value = '']) => {
    const given = name === 'v1' ? Buffer.from(value, 'hex') : Buffer.alloc(0)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
