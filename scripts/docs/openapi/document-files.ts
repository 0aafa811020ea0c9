/** The documents as files. */
import type { Json } from '../../../contract/schema.js'
import { openApiDocument, tokensDocument } from './document.js'
import { olderVersion } from './older-version.js'

export const OPENAPI_FILE = 'docs/openapi.json'

/** By the path of each file. */
export function documents(): ReadonlyMap<string, Json> {
  const [api, tokens] = [openApiDocument(), tokensDocument()]
  return new Map([
    [OPENAPI_FILE, api],
    ['docs/openapi-3.0.json', olderVersion(api)],
    ['docs/openapi-tokens.json', tokens],
    ['docs/openapi-tokens-3.0.json', olderVersion(tokens)]
  ])
}

export function documentFiles(): { path: string; content: string }[] {
  return [...documents()].map(([path, document]) => ({ path, content: `${JSON.stringify(document, null, 2)}\n` }))
}
