/** What `npm start` prints when everything is ready. */
import type { Demo } from './demo.js'
import { demoCard, demoCustomer } from './demo-customer.js'
import { urlOf } from './environment.js'
import type { PortPlan } from './ports.js'

/** URLs of every listening instance, the demo keys, and commands that work when pasted. */
export function banner(options: { ports: PortPlan; dataDir: string; demo: Demo | undefined }): string {
  const { ports, dataDir, demo } = options
  const width = Math.max(...[...ports.keys()].map(name => name.length), 'publishable key'.length)
  const row = (label: string, value: string): string => `  ${label.padEnd(width)}  ${value}`
  const places = [...ports.keys()].map(name => row(name, urlOf(ports, name) ?? ''))
  const lines = ['', 'Ready. Ctrl-C stops everything.', '', ...places, row('data', dataDir)]
  const api = urlOf(ports, 'api.1')
  if (api !== null) lines.push(row('API reference', `${api}/docs${keysOf(demo)}`))
  if (demo !== undefined) {
    lines.push(row('merchant', demo.merchant_id), row('API key', demo.api_key))
    lines.push(row('publishable key', demo.publishable_key))
    if (demo.base_url !== null && demo.tokens_url !== null) {
      lines.push('', 'Charge a test card (paste this into another terminal):', '', demoCommands(demo))
    }
  }
  return `${lines.join('\n')}\n\n`
}

/** The keys as a fragment, which the page takes out of its address: it never leaves the browser. */
function keysOf(demo: Demo | undefined): string {
  if (demo === undefined) return ''
  return `#${new URLSearchParams({ api_key: demo.api_key, publishable_key: demo.publishable_key })}`
}

/** A one-use token with the publishable key, as the buyer's browser gets it, then a payment with the API key. */
function demoCommands(demo: Demo): string {
  const payment = { amount_cents: 1990, external_reference: 'order-1', customer: demoCustomer }
  // The body is single-quoted for the shell but for the token, which the shell puts in.
  const source = `"payment_source":{"source_type":"token","token_id":"'"$TOKEN"'"}`
  const body = JSON.stringify(payment).replace(/}$/, `,${source}}`)
  return [
    `TOKEN=$(curl -s ${demo.tokens_url}/v1/tokens \\`,
    `  -H 'Authorization: Bearer ${demo.publishable_key}' -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(demoCard)}' | sed -E 's/.*"token_id": *"([^"]+)".*/\\1/')`,
    `curl -sS -i ${demo.base_url}/v1/payments \\`,
    `  -H 'Authorization: Bearer ${demo.api_key}' -H 'Content-Type: application/json' \\`,
    `  -H "Idempotency-Key: demo-$(date +%s)-$$-\${RANDOM:-0}" \\`,
    `  -d '${body}'; echo`
  ].join('\n')
}
