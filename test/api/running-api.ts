/**
 * The real application on a real port, in front of a command path and a card store that answer what a test tells them.
 * What they are asked is recorded; a test that told them nothing fails with 500 when they are asked.
 */
import type { Cards } from '../../api/cards/store-card.js'
import { Admission } from '../../api/http/admission.js'
import { createApp } from '../../api/http/api-app.js'
import { createAuthenticator } from '../../api/http/authenticator.js'
import { serve } from '../../api/http/http-server.js'
import type { CreateRequest, PaymentsPort, RequestScope, Submission } from '../../api/payments/payments-port.js'
import { loadReference } from '../../api/reference/reference.js'
import type { TestEnvironment } from '../../api/test-environment/test-environment.js'
import type { WebhookEndpoints } from '../../api/webhook-endpoint/webhook-endpoints.js'
import type { NewEndpoint, ShownEndpoint } from '../../contract/webhook-endpoint.js'
import type { Payment } from '../../machines/model.js'
import { hashSecret, type KeyRecord, type Permission } from '../../redis/merchants/merchants.js'
import type { RateLimiter } from '../../redis/merchants/rate-limit.js'
import type { ListFilter, PaymentPage } from '../../redis/payments/list-payments.js'
import { systemClock } from '../../runtime/clock.js'
import { readConfig } from '../../runtime/config.js'
import { createLogger, type Logger } from '../../runtime/log.js'

export const SECRET = 'secret-of-the-first-merchant'
/** A key with all permissions of a merchant's server. */
export const API_KEY = `svc_test.k_full.${SECRET}`

/** What a test's command path was asked, and what it answers. */
export interface ScriptedPayments extends PaymentsPort {
  submission: Submission | Error | Promise<Submission> | null
  payment: Payment | null
  page: PaymentPage
  readonly creates: { scope: RequestScope; request: CreateRequest }[]
  readonly commands: {
    name: 'capture' | 'cancel'
    scope: RequestScope
    paymentId: string
    amountCents: number | null
  }[]
  readonly reads: { merchantId: string; paymentId: string }[]
  /** What the key of a request that breaks a rule had before. */
  earlier: Submission | null
  readonly repeats: (RequestScope & { paymentId: string | null })[]
  readonly lists: { merchantId: string; filter: ListFilter }[]
}

export interface RunningApi {
  readonly url: string
  readonly port: number
  readonly payments: ScriptedPayments
  readonly cards: {
    answer: Awaited<ReturnType<Cards['store']>> | Error | null
    /** What GET and DELETE find. */
    found: Awaited<ReturnType<Cards['read']>>
    asked: [string, string][]
  }
  readonly keys: Map<string, KeyRecord>
  /** A request with a valid key and a fresh Idempotency-Key, unless `headers` say otherwise (null removes one). */
  request(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string | null> }
  ): Promise<Answer>
  stop(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
  /** The `error` object of the envelope; empty when there is none. */
  readonly error: Record<string, unknown> & { fields?: { path: string; message: string }[] }
}

export async function startApi(
  options: {
    env?: NodeJS.ProcessEnv
    rateLimiter?: RateLimiter | null
    admission?: Admission
    log?: Logger
    webhookEndpoints?: WebhookEndpoints
    testEnvironment?: TestEnvironment
    assertWhole?: (merchantId: string) => Promise<void>
  } = {}
): Promise<RunningApi> {
  const config = readConfig({ SERVICE_ENV: 'test', ...options.env })
  const log = options.log ?? createLogger('api', 'silent')
  const payments = scriptedPayments()
  const cards: RunningApi['cards'] = { answer: null, found: null, asked: [] }
  const keys = new Map([['k_full', aKey('k_full')]])
  const authenticator = createAuthenticator({
    environment: config.environment,
    findKey: async keyId => keys.get(keyId) ?? null
  })
  const app = createApp({
    config,
    clock: systemClock,
    log,
    reference: loadReference(config),
    authenticator,
    admission: options.admission ?? new Admission(),
    rateLimiter: options.rateLimiter ?? null,
    assertWhole: options.assertWhole ?? (async () => undefined),
    payments,
    cards: {
      store: async (merchantId, tokenId) => {
        cards.asked.push([merchantId, tokenId])
        return toldOrThrow(cards.answer)
      },
      read: async (...asked) => {
        cards.asked.push(asked)
        return cards.found
      },
      erase: async (...asked) => {
        cards.asked.push(asked)
        return cards.found !== null
      }
    },
    testEnvironment: options.testEnvironment ?? noTestEnvironment,
    webhookEndpoints: options.webhookEndpoints ?? {
      register: async () => toldOrThrow<NewEndpoint>(null),
      find: async () => toldOrThrow<ShownEndpoint>(null)
    }
  })
  const server = await serve(app, { host: '127.0.0.1', port: 0, log })
  const url = `http://127.0.0.1:${server.port}`
  return {
    url,
    port: server.port,
    payments,
    cards,
    keys,
    request: (method, path, { body, headers = {} } = {}) => send(method, `${url}${path}`, body, headers),
    stop: server.stop
  }
}

/** The API for the tests of a suite. `often`: `beforeEach` makes a new one for each test. */
export function useApi(options: Parameters<typeof startApi>[0] = {}, often = before): RunningApi {
  const api = {} as RunningApi
  often(async () => void Object.assign(api, await startApi(options)))
  const atEnd = often === before ? after : afterEach
  atEnd(() => api.stop())
  return api
}

export const CARD_ID = 'card_01ivpq46pcfnnolf014d2mf803'

/** A key of merchant `m_one` with all permissions, and `SECRET`. */
export function aKey(keyId: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  const permissions: Permission[] = ['payments:read', 'payments:write', 'cards:write', 'webhooks:write']
  return {
    keyId,
    merchantId: 'm_one',
    environment: 'test',
    permissions,
    isPublishable: false,
    isRevoked: false,
    label: null,
    expiresAtMs: null,
    createdAtMs: 0,
    secretHash: hashSecret(SECRET),
    isMerchantEnabled: true,
    ...changes
  }
}

let requests = 0

async function send(
  method: string,
  url: string,
  body: unknown,
  changes: Record<string, string | null>
): Promise<Answer> {
  requests += 1
  const headers = new Headers({ Authorization: `Bearer ${API_KEY}`, 'Idempotency-Key': `key-${requests}` })
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) headers.delete(name)
    else headers.set(name, value)
  }
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const content = body === undefined ? null : isRaw ? body : JSON.stringify(body)
  const response = await fetch(url, { method, headers, body: content, redirect: 'manual' })
  const text = await response.text()
  const parsed = text === '' ? {} : JSON.parse(text)
  return { status: response.status, headers: response.headers, text, body: parsed, error: parsed.error ?? {} }
}

function scriptedPayments(): ScriptedPayments {
  const scripted: ScriptedPayments = {
    submission: null,
    payment: null,
    page: { payments: [], nextAfterId: null },
    creates: [],
    commands: [],
    reads: [],
    lists: [],
    repeats: [],
    earlier: null,
    async repeat(scope, paymentId) {
      scripted.repeats.push({ ...scope, paymentId })
      return scripted.earlier
    },
    async create(scope, request) {
      scripted.creates.push({ scope, request })
      return toldOrThrow(await scripted.submission)
    },
    async capture(scope, paymentId, amountCents) {
      scripted.commands.push({ name: 'capture', scope, paymentId, amountCents })
      return toldOrThrow(await scripted.submission)
    },
    async cancel(scope, paymentId, amountCents) {
      scripted.commands.push({ name: 'cancel', scope, paymentId, amountCents })
      return toldOrThrow(await scripted.submission)
    },
    async read(merchantId, paymentId) {
      scripted.reads.push({ merchantId, paymentId })
      return scripted.payment?.terms.merchantId === merchantId ? scripted.payment : null
    },
    async list(merchantId, filter) {
      scripted.lists.push({ merchantId, filter })
      return scripted.page
    }
  }
  return scripted
}

const noTestEnvironment: TestEnvironment = {
  chargeBack: async () => toldOrThrow<never>(null),
  expire: async () => toldOrThrow<never>(null),
  sendEvent: async () => toldOrThrow<never>(null),
  listEvents: async () => toldOrThrow<never>(null),
  replayEvent: async () => toldOrThrow<never>(null)
}

function toldOrThrow<T>(told: T | Error | null): T {
  if (told instanceof Error) throw told
  if (told === null) throw new Error('the test told no answer')
  return told
}
