/** Headers for answers that no browser should render, frame, sniff or keep (OWASP REST Security Cheat Sheet). */
import type { RequestMiddleware } from '../context.js'

const HEADERS = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
  ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY']
] as const

export function securityHeaders(): RequestMiddleware {
  return (ctx, next) => {
    // Not `ctx.set`, which looks at each of them once more for every request.
    for (const [name, value] of HEADERS) ctx.res.setHeader(name, value)
    return next()
  }
}
