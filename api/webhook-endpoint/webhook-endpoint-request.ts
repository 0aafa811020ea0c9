/** Reads the body of PUT /v1/webhook-endpoint (docs/API.md#put-v1webhook-endpoint). */

import { isIP } from 'node:net'
import {
  HOST_LENGTH_MAX,
  IS_ROTATION_DEFAULT,
  LABEL_LENGTH_MAX,
  URL_RULE,
  webhookEndpointBody
} from '../../contract/webhook-endpoint.js'
import { holdsCardData, namesCardData } from '../../machines/card-data-in-text.js'
import type { EgressPolicy } from '../../runtime/egress-policy.js'
import { parsedUrl } from '../../runtime/parsed-url.js'
import { parserOf } from '../http/schema.js'
import { invalidRequest } from '../http/service-error.js'

export interface EndpointRequest {
  readonly url: string
  readonly isRotation: boolean
}

const parseFields = parserOf(webhookEndpointBody, 'body')

/**
 * Throws `invalid_request`, also for an IP address that is not public. The addresses of a host name are checked at each
 * delivery.
 */
export function parseEndpointRequest(body: unknown, policy: EgressPolicy): EndpointRequest {
  const { url, rotate_secret: rotateSecret } = parseFields(body)
  const problem = problemOf(url, policy)
  if (problem !== null) throw invalidRequest('url', problem)
  return { url, isRotation: rotateSecret ?? IS_ROTATION_DEFAULT }
}

function problemOf(text: string, policy: EgressPolicy): string | null {
  // The URL parser accepts white space, control characters, backslashes and missing slashes, which would be stored as given.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'must not contain white space or a backslash'
  if (!/^https:\/\/[^/]/i.test(text)) return 'must begin with https:// and the name of a host'
  const url = parsedUrl(text)
  if (url === null) return URL_RULE
  // An empty user name leaves no trace in the parsed URL.
  if (/^https:\/\/[^/?]*@/i.test(text)) return 'must not contain a user name or a password'
  if (text.includes('#')) return 'must not contain a fragment (#…), which is never sent'
  if (
    holdsCardData(text) ||
    [...url.searchParams].some(([name, value]) => namesCardData(name) || holdsCardData(value))
  ) {
    return 'must not contain card data'
  }
  if (url.port === '0') return 'must not name the port 0'
  if (!isHostName(url.hostname)) {
    return `must name a host with 1 to ${LABEL_LENGTH_MAX} characters between dots, and at most ${HOST_LENGTH_MAX} in all`
  }
  const refusal = policy.refusalOf(namedAddress(url.hostname))
  return refusal === null || refusal === 'not an address' ? null : `must be reachable from the internet (${refusal})`
}

/** Whether a resolver takes the name, which the URL parser has turned into ASCII. An address, too, has the form of a name. */
function isHostName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '')
  const labels = name.split('.')
  return name.length <= HOST_LENGTH_MAX && labels.every(({ length }) => length > 0 && length <= LABEL_LENGTH_MAX)
}

/** The address that a host name is; of `localhost`, the one that it always resolves to. */
function namedAddress(hostname: string): string {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 && /(^|\.)localhost\.?$/i.test(bare) ? '127.0.0.1' : bare
}
