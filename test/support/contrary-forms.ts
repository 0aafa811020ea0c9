/**
 * The forms in which HTTP and JSON let one and the same answer come: whole answers in bytes, after which the connection
 * ends. Pure; for the test of what the service reads of each.
 */
import { gzipSync } from 'node:zlib'
import type { WireAnswer } from './contrary-wire.js'

export interface AnswerForm {
  /** The service must read the answer in this form. Else it may leave it unread, and must not read another answer in it. */
  readonly isReadable: boolean
  readonly bytes: (answer: WireAnswer) => Buffer
}

const readable = (bytes: AnswerForm['bytes']): AnswerForm => ({ isReadable: true, bytes })
const unreadable = (bytes: AnswerForm['bytes']): AnswerForm => ({ isReadable: false, bytes })

/** A whole answer with other headers or another body. `length` null: until the end of the connection. */
function http(
  status: number,
  body: Buffer | string,
  {
    version = '1.1',
    type = 'application/json',
    more = [],
    length = Buffer.byteLength(body)
  }: { version?: string; type?: string; more?: readonly string[]; length?: number | null } = {}
): Buffer {
  const sized = length === null ? [] : [`Content-Length: ${length}`]
  const head = [`HTTP/${version} ${status} Any`, `Content-Type: ${type}`, ...sized, 'Connection: close', ...more]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

function chunked({ status, body }: WireAnswer, end = '0\r\n\r\n'): Buffer {
  const chunks = [...body].map(letter => `${Buffer.byteLength(letter).toString(16)};any=1\r\n${letter}\r\n`).join('')
  return http(status, `${chunks}${end}`, { more: ['Transfer-Encoding: chunked'], length: null })
}

/** Each number of the body in other words. */
function withNumbers({ status, body }: WireAnswer, write: (digits: string) => string): Buffer {
  return http(
    status,
    body.replace(/(":)(\d+)(?=[,}])/g, (_, name: string, digits: string) => `${name}${write(digits)}`)
  )
}

const middle = (text: string): number => Math.floor(text.length / 2)

export const answerForms: Readonly<Record<string, AnswerForm>> = {
  'letter by letter in chunks': readable(answer => chunked(answer)),
  'with a byte order mark': readable(({ status, body }) => http(status, `\uFEFF${body}`)),
  'with white space around it': readable(({ status, body }) => http(status, `\r\n\t ${body} \n\n`)),
  'as a page, in another alphabet': readable(({ status, body }) => {
    const latin = Buffer.from(body.replace('"Message"', '"Opera\xe7\xe3o"'), 'latin1')
    return http(status, latin, { type: 'text/html; charset=iso-8859-1' })
  }),
  'until the connection ends, in HTTP/1.0': readable(({ status, body }) =>
    http(status, body, { version: '1.0', length: null })
  ),
  'behind early hints': readable(({ status, body }) =>
    Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'), http(status, body)])
  ),
  'with numbers that have an exponent': readable(answer => withNumbers(answer, digits => `${digits}e0`)),
  'with numbers that have a point': readable(answer => withNumbers(answer, digits => `${digits}.0`)),
  'with numbers as texts, and space around them': readable(answer => withNumbers(answer, digits => `" ${digits} "`)),
  'with ids in capitals': readable(({ status, body }) =>
    http(
      status,
      body.replace(/[\da-f]{8}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{4}-?[\da-f]{12}/g, id => id.toUpperCase())
    )
  ),
  'with fields of any length': readable(({ status, body }) =>
    http(status, body.replace(/"Tid":"\d+"/, `"Tid":"${'7'.repeat(100_000)}"`))
  ),
  'compressed without being asked': unreadable(({ status, body }) =>
    http(status, gzipSync(body), { more: ['Content-Encoding: gzip'] })
  ),
  'in UTF-16': unreadable(({ status, body }) =>
    http(status, Buffer.from(`\uFEFF${body}`, 'utf16le'), { type: 'application/json; charset=utf-16' })
  ),
  'cut in the middle': unreadable(({ status, body }) =>
    http(status, body.slice(0, middle(body)), { length: body.length })
  ),
  'cut in the middle, in HTTP/1.0': unreadable(({ status, body }) =>
    http(status, body.slice(0, middle(body)), { version: '1.0', length: null })
  ),
  'without its last chunk': unreadable(answer => chunked(answer, '')),
  'with a length that is too short': unreadable(({ status, body }) => http(status, body, { length: middle(body) })),
  'with more behind it': unreadable(({ status, body }) => http(status, `${body}<!-- cached -->`)),
  'twice in one body': unreadable(({ status, body }) => http(status, `${body}${body}`)),
  'inside a list': unreadable(({ status, body }) => http(status, `[[${body}]]`)),
  'as a text in JSON': unreadable(({ status, body }) => http(status, JSON.stringify(body))),
  'with amounts and codes in other digits': unreadable(answer =>
    withNumbers(answer, digits => `"${[...digits].map(digit => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]).join('')}"`)
  ),
  'as not modified': unreadable(() => http(304, '')),
  'without a body': unreadable(() => http(204, '', { length: null })),
  'without a word': unreadable(() => http(200, '')),
  busy: unreadable(() => http(503, '', { more: ['Retry-After: 1'] })),
  upgraded: unreadable(() =>
    Buffer.from('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n')
  ),
  'in no HTTP': unreadable(({ body }) => Buffer.from(body))
}
