/** The application of process `tokens` on real Redis and real HTTP, with one merchant and its keys. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthenticator } from '../../api/http/authenticator.js'
import { type HttpServer, serve } from '../../api/http/http-server.js'
import { createTokenLimits } from '../../api/tokens/address-limit.js'
import { loadHostedFields } from '../../api/tokens/hosted-fields.js'
import { createTokensApp } from '../../api/tokens/tokens-app.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import type { RateLimit } from '../../redis/merchants/rate-limit.js'
import { createTokenStore } from '../../redis/tokens/tokens.js'
import { systemClock } from '../../runtime/clock.js'
import { createLogger } from '../../runtime/log.js'
import { ensureKeyFiles, keyFilesIn } from '../../vault/key-files.js'
import { loadOpener, type Opener } from '../../vault/opener.js'
import { loadSealer } from '../../vault/sealer.js'
import { until } from './conditions.js'
import { writingTo } from './log-lines.js'
import { type TestRedis, useRedis } from './redis.js'

export const TOKEN_TTL_MS = 900_000
/** Less than the pause of a process after which limits do not count, and more than the time for which they don't. */
const PAUSE_MS = 1_500
const LOOK_MS = 50

/** A body that is accepted. The CVV is one that no process id, port or time of day looks like. */
export const typedCard = {
  card_number: '4024007153760060',
  holder_name: 'Conceição Araújo',
  expiration_month: '12',
  expiration_year: '2199',
  cvv: '0937'
}

/** Call it inside a `describe`: it starts before the tests, empties the memory-only Redis before each, and stops. */
export function useTokensApp(): TokensAppUnderTest {
  const app = new TokensAppUnderTest(useRedis())
  before(() => app.open())
  beforeEach(() => app.clear())
  after(() => app.close())
  return app
}

class TokensAppUnderTest {
  readonly redis: TestRedis
  /** What the application has logged since the test began. */
  readonly logLines: string[] = []
  merchantId = ''
  publishableKey = ''
  secretKey = ''
  url = ''
  #dir = ''
  #servers: HttpServer[] = []
  /** When this process was last seen, and when it last stood still. */
  #seenMs = performance.now()
  #stoodStillMs = Number.NEGATIVE_INFINITY
  #looking: NodeJS.Timeout | undefined

  constructor(redis: TestRedis) {
    this.redis = redis
  }

  get merchants(): MerchantStore {
    return new MerchantStore(this.redis.redis, 'test')
  }

  /** Opens what the application sealed, as a `payments` process would. */
  get opener(): Opener {
    return loadOpener(ensureKeyFiles(keyFilesIn(this.#dir)).privateFile)
  }

  async open(): Promise<void> {
    this.#looking = setInterval(() => this.#look(), LOOK_MS)
    this.#dir = mkdtempSync(join(tmpdir(), 'tokens-'))
    this.merchantId = (await this.merchants.createMerchant('Loja')).merchantId
    this.publishableKey = await this.newKey()
    const secret = await this.merchants.createKey({ merchantId: this.merchantId, permissions: ['payments:write'] })
    this.secretKey = secret.fullKey
    this.url = await this.start({ perSecond: 0, burst: 1 })
  }

  async clear(): Promise<void> {
    this.logLines.length = 0
    await this.redis.secrets.flushdb()
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    await Promise.all(this.#servers.map(server => server.stop()))
    rmSync(this.#dir, { recursive: true })
  }

  /**
   * Resolves to what `work` gave while every request was counted. A limit counts nothing for a second after a pause of Redis or of
   * this process: then once more, on empty buckets, when they count again.
   */
  async counted<T>(work: () => Promise<T>): Promise<T> {
    const { given } = await until('every request is counted', async () => {
      if (performance.now() < this.#look() + PAUSE_MS) return false
      await this.clear()
      const beganMs = performance.now()
      const given = await work()
      const isPaused = this.#look() > beganMs || this.logLines.some(line => line.includes('requests are not limited'))
      if (isPaused) this.#stoodStillMs = performance.now()
      return !isPaused && { given }
    })
    return given
  }

  /** When this process last stood still. */
  #look(): number {
    const nowMs = performance.now()
    if (nowMs - this.#seenMs > PAUSE_MS) this.#stoodStillMs = nowMs
    this.#seenMs = nowMs
    return this.#stoodStillMs
  }

  /** A new publishable key, of the one merchant unless another is named. */
  async newKey(merchantId = this.merchantId): Promise<string> {
    const key = await this.merchants.createKey({ merchantId, permissions: ['tokens:write'], isPublishable: true })
    return key.fullKey
  }

  /** Starts one more copy of the application, with its own limits; returns its URL. */
  async start(limit: RateLimit, trustedProxies = 0, issued: RateLimit = { perSecond: 0, burst: 1 }): Promise<string> {
    const log = createLogger('tokens', 'debug', writingTo(this.logLines))
    const app = createTokensApp({
      environment: 'test',
      sealer: loadSealer(ensureKeyFiles(keyFilesIn(this.#dir)).publicFile),
      tokens: createTokenStore(this.redis.secrets),
      tokenTtlMs: TOKEN_TTL_MS,
      clock: systemClock,
      authenticator: createAuthenticator({
        environment: 'test',
        findKey: keyId => this.merchants.findKey(keyId, Date.now())
      }),
      limits: createTokenLimits(this.redis.secrets, limit, issued, log),
      trustedProxies,
      hostedFields: loadHostedFields(),
      log,
      requestLogLevel: 'debug'
    })
    const server = await serve(app, { host: '127.0.0.1', port: 0, log })
    this.#servers.push(server)
    return `http://127.0.0.1:${server.port}`
  }

  /** Posts a body (text as it stands, anything else as JSON) with the publishable key, unless `headers` say otherwise. */
  post(body: unknown, headers: Record<string, string> = {}, url = this.url): Promise<Response> {
    return fetch(`${url}/v1/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${this.publishableKey}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body)
    })
  }
}

/** The `code` of an error answer. */
export async function codeOf(response: Response): Promise<string> {
  const answer = (await response.json()) as { error: { code: string } }
  return answer.error.code
}
