/**
 * Reads a JSON body into `ctx.state.body`: bytes with a limit, strict UTF-8, then JSON.
 *
 * koa-body reads the bytes only. As a JSON parser it would silently replace invalid UTF-8, and attach the raw
 * text, which may hold a CVV, to its errors.
 */
import { koaBody } from 'koa-body'
import { mayHoldNumber } from '../../../machines/card-brands.js'
import type { RequestContext } from '../context.js'
import { hasRepeatedNames, roundedNumbers, structureOf } from '../json-text.js'
import { invalidRequest, ServiceError } from '../service-error.js'

/** 64 KiB: more than a create request with every field at its limit. An escape counts as the character that it stands for. */
export const BODY_BYTES_MAX = 65_536
/** As they arrive. Characters of 4 bytes have two escapes of 6. */
const ESCAPED_BYTES_MAX = 3 * BODY_BYTES_MAX

/** Bounds bodies that arrive byte by byte: a chunk of one byte costs as much as one of thousands. Common clients send fewer than 50. */
const PIECES_MAX = 1_024

/**
 * Fields, objects and arrays; and numbers. Ten times what a request has. Without the bound, parsing and checking a body of
 * 192 KiB would take longer than a payment.
 */
const STRUCTURE_MAX = 500

/** koa-body's "text" without an encoding is bytes. */
const readBody = koaBody({
  text: true,
  textTypes: ['application/json'],
  encoding: '',
  textLimit: ESCAPED_BYTES_MAX,
  json: false,
  urlencoded: false
})
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * @param isOptional whether the request may come without a body (capture and cancel); `null` is none then, because clients
 *   that were generated for Go, Java and Rust write it for an absent body
 * @throws `unsupported_media_type`, `payload_too_large`, `invalid_request`
 */
export async function readJson(ctx: RequestContext, { isOptional }: { isOptional: boolean }): Promise<void> {
  const bytes = await readBytes(ctx)
  const value = bytes.length > 0 ? parse(bytes) : undefined
  if (value !== undefined && !(isOptional && value === null)) ctx.state.body = value
  else if (!isOptional) throw invalidRequest('body', 'is missing: send a JSON object')
}

function refuseOtherMedia(ctx: RequestContext): void {
  const type = ctx.get('Content-Type')
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1] ?? 'utf-8'
  const isJson = /^application\/json\s*(;|$)/i.test(type)
  const encoding = ctx.get('Content-Encoding').toLowerCase()
  if (!isJson || !/^utf-?8$/i.test(charset) || !['', 'identity'].includes(encoding)) {
    throw new ServiceError('unsupported_media_type')
  }
}

async function readBytes(ctx: RequestContext): Promise<Buffer> {
  // `curl -d ''` sends a Content-Type without a body.
  if (!ctx.request.length && ctx.req.headers['transfer-encoding'] === undefined) return Buffer.alloc(0)
  refuseOtherMedia(ctx)
  try {
    await Promise.race([readBody(ctx, async () => undefined), untilTooManyPieces(ctx)])
  } catch (error) {
    if (error instanceof Error && 'type' in error) {
      if (error.type === 'entity.too.large') {
        // koa-body stops reading. The rest has to be read before the next request on the connection.
        ctx.req.resume()
        throw new ServiceError('payload_too_large')
      }
      if (error.type === 'request.size.invalid') throw invalidRequest('body', 'is not as long as Content-Length says')
    }
    throw error
  }
  // koa-body does not read a body whose media type is malformed.
  if (!Buffer.isBuffer(ctx.request.body)) throw new ServiceError('unsupported_media_type')
  return ctx.request.body
}

/** Rejects when a body has too many pieces. The rest is not read: the answer ends the connection. */
function untilTooManyPieces({ req, res, state }: RequestContext): Promise<never> {
  let pieces = 0
  return new Promise((_, reject) => {
    req.on('data', () => {
      if (++pieces <= PIECES_MAX) return
      req.pause()
      if (res.headersSent) req.destroy()
      state.headers.push('Connection', 'close')
      reject(invalidRequest('body', `arrives in more than ${PIECES_MAX} pieces: send it in fewer writes`))
    })
  })
}

function parse(bytes: Buffer): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalidRequest('body', 'is not valid UTF-8')
  }
  if (bytes.length > BODY_BYTES_MAX && bytesUnescaped(text) > BODY_BYTES_MAX)
    throw new ServiceError('payload_too_large')
  const structure = structureOf(text, STRUCTURE_MAX)
  if (structure.size > STRUCTURE_MAX) {
    throw invalidRequest('body', `has more than ${STRUCTURE_MAX} fields, objects and arrays, or numbers`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The message of the parser quotes the text, which may hold card data.
    throw invalidRequest('body', 'is not valid JSON')
  }
  if (hasRepeatedNames(structure, value))
    throw invalidRequest('body', 'has a field twice in one object: send each one once')
  const rounded = roundedNumbers(text, structure)
  if (rounded.length > 0) throw roundedFields(rounded)
  return value
}

function bytesUnescaped(text: string): number {
  return Buffer.byteLength(
    text.replace(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  )
}

function roundedFields(places: readonly (readonly string[])[]): ServiceError {
  const paths = new Set(places.map(pathOf))
  const message = 'has more digits than a number of JSON keeps (IEEE 754 double): it would be rounded'
  return new ServiceError('invalid_request', { fields: [...paths].map(path => ({ path, message })) })
}

/** Hides a name that does not look like a field: it may be a card number. */
function pathOf(place: readonly string[]): string {
  const path = place.join('.')
  return /^[\w.-]{1,120}$/.test(path) && !place.some(mayHoldNumber) ? path : 'body'
}
