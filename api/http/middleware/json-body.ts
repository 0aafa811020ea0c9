/**
 * Reads a JSON body into `ctx.state.body`: bytes with a limit, strict UTF-8, then JSON.
 *
 * koa-body reads the bytes only. As a JSON parser it would replace invalid UTF-8 silently, and attach the raw text, which
 * may hold a card's security code, to the errors that it throws.
 */
import { koaBody } from 'koa-body'
import { mayHoldNumber } from '../../../machines/card-brands.js'
import { ServiceError } from '../../../runtime/errors.js'
import type { RequestContext } from '../context.js'
import { hasRepeatedNames, roundedNumbers, structureOf } from '../json-text.js'

/** 64 KiB: a create request with every field at its limit, in escapes, is a third of it. */
export const BODY_BYTES_MAX = 65_536

/** Usual clients send a body in less than fifty; a piece of one byte costs as much as one of thousands. */
const PIECES_MAX = 1_024

/**
 * Fields, objects and arrays, and as many numbers. No request has a tenth of it; of a body that is nothing else, thousands would take longer
 * to read and to judge than a payment takes.
 */
const STRUCTURE_MAX = 500

/** "Text" without an encoding is bytes. */
const readBody = koaBody({
  text: true,
  textTypes: ['application/json'],
  encoding: '',
  textLimit: BODY_BYTES_MAX,
  json: false,
  urlencoded: false
})
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * @param isOptional whether the request may come without a body (capture and cancel)
 * @throws `unsupported_media_type`, `payload_too_large`, `invalid_request`
 */
export async function readJson(ctx: RequestContext, { isOptional }: { isOptional: boolean }): Promise<void> {
  const bytes = await readBytes(ctx)
  if (bytes.length > 0) ctx.state.body = parse(bytes)
  else if (!isOptional) throw brokenBody('is missing: send a JSON object')
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
  // Of a body that did not come, the type says nothing: `curl -d ''` names one all the same.
  if (!ctx.request.length && ctx.req.headers['transfer-encoding'] === undefined) return Buffer.alloc(0)
  refuseOtherMedia(ctx)
  let pieces = 0
  ctx.req.on('data', () => {
    if (++pieces > PIECES_MAX) ctx.req.pause().destroy()
  })
  try {
    await readBody(ctx, async () => undefined)
  } catch (error) {
    if (error instanceof Error && 'type' in error) {
      if (error.type === 'entity.too.large') {
        // koa-body stops reading; what is left would keep the connection from its next request.
        ctx.req.resume()
        throw new ServiceError('payload_too_large')
      }
      if (error.type === 'request.size.invalid') throw brokenBody('is not as long as Content-Length says')
    }
    throw error
  }
  // Nothing was read of a media type that can't be parsed, such as one with half a parameter.
  if (!Buffer.isBuffer(ctx.request.body)) throw new ServiceError('unsupported_media_type')
  return ctx.request.body
}

function parse(bytes: Buffer): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw brokenBody('is not valid UTF-8')
  }
  const structure = structureOf(text, STRUCTURE_MAX)
  if (structure.size > STRUCTURE_MAX) {
    throw brokenBody(`has more than ${STRUCTURE_MAX} fields, objects and arrays, or numbers`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may hold what must not be repeated.
    throw brokenBody('is not valid JSON')
  }
  if (hasRepeatedNames(structure, value)) throw brokenBody('has a field twice in one object: send each one once')
  const rounded = roundedNumbers(text, structure)
  if (rounded.length > 0) throw roundedFields(rounded)
  return value
}

function roundedFields(places: readonly (readonly string[])[]): ServiceError {
  const paths = new Set(places.map(pathOf))
  const message = 'has more digits than a number of JSON keeps (IEEE 754 double): it would be rounded'
  return new ServiceError('invalid_request', { fields: [...paths].map(path => ({ path, message })) })
}

/** A name that looks like no field's is left out: it may be a card number in the wrong place. */
function pathOf(place: readonly string[]): string {
  const path = place.join('.')
  return /^[\w.-]{1,120}$/.test(path) && !place.some(mayHoldNumber) ? path : 'body'
}

function brokenBody(message: string): ServiceError {
  return new ServiceError('invalid_request', { fields: [{ path: 'body', message }] })
}
