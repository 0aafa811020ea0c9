/** Headers for answers that no browser should render, frame, sniff or keep (OWASP REST Security Cheat Sheet). */

/** Names and values in turn. */
export const SECURITY_HEADERS = [
  ...['Cache-Control', 'no-store'],
  ...['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY']
]
