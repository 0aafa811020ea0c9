/** The shop's one page, with the address and the hash of the script that brings the card fields. */
import { readFile } from 'node:fs/promises'
import { PRICE_CENTS } from './order.js'

/** What a merchant gets from the operator. A real shop has it in its configuration, the secret key in a secret store. */
export interface MerchantSettings {
  readonly baseUrl: string
  readonly tokensUrl: string
  /** Stays on the server, always. */
  readonly apiKey: string
  /** Stands in the page: it can make tokens, and nothing else. */
  readonly publishableKey: string
}

export interface ShopPage {
  html(orderId: string): string
  readonly files: ReadonlyMap<string, { readonly type: string; readonly content: string }>
  readonly contentSecurityPolicy: string
}

/** The page is served from the sources: browsers get what a merchant reads. */
const FOLDER = new URL('../../../scripts/shop/page/', import.meta.url)

const FILES = [
  ['shop.css', 'text/css'],
  ['shop.js', 'text/javascript'],
  ['icon.svg', 'image/svg+xml'],
  ['product.svg', 'image/svg+xml']
] as const

/** Rejects when the service of the fields does not answer. */
export async function loadPage(merchant: MerchantSettings): Promise<ShopPage> {
  const fields = await readFieldsRelease(merchant.tokensUrl)
  const template = await read('index.html')
  const values: Record<string, string> = {
    fieldsScript: `${merchant.tokensUrl}${fields.path}`,
    fieldsIntegrity: fields.integrity,
    publishableKey: merchant.publishableKey,
    priceCents: String(PRICE_CENTS)
  }
  const tokens = new URL(merchant.tokensUrl).origin
  return {
    html: orderId => fill(template, { ...values, orderId }),
    files: new Map(
      await Promise.all(FILES.map(async ([name, type]) => [`/${name}`, { type, content: await read(name) }] as const))
    ),
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src 'self' ${tokens}`,
      `frame-src ${tokens}`,
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'"
    ].join('; ')
  }
}

/** A real shop writes address and hash into its page, from docs/HOSTED_FIELDS.md; this one has to fit any checkout. */
async function readFieldsRelease(tokensUrl: string): Promise<{ path: string; integrity: string }> {
  const response = await fetch(`${tokensUrl}/v1/fields.json`).catch(() => {
    throw new Error(`The card fields at ${tokensUrl} do not answer. Run \`npm start\` in another terminal.`)
  })
  return (await response.json()) as { path: string; integrity: string }
}

function read(name: string): Promise<string> {
  return readFile(new URL(name, FOLDER), 'utf8')
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => escapeHtml(values[name] ?? ''))
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
