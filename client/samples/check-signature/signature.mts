import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether the secret signed the body, as it arrived, less than five minutes ago. */
export function isSigned(header: string, body: string | Uint8Array, secret: string): boolean {
  const parts = header.split(',').map(part => part.trim().split('='))
  const sentAt = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!/^\d{1,12}$/.test(sentAt) || Math.abs(Date.now() / 1000 - Number(sentAt)) > 300) return false
  const expected = createHmac('sha256', secret).update(`${sentAt}.`).update(body).digest()
  const signatures = parts.filter(([name]) => name === 'v1').map(([, value = '']) => Buffer.from(value, 'hex'))
  return signatures.some(one => one.length === expected.length && timingSafeEqual(one, expected))
}
