/** Options of the client and of its calls. */

/** Takes `(fields, message)`, as pino and console do. No field holds a body or an API key. */
export interface Logger {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** How long and how often a call tries. */
export interface CallOptions {
  /** For one try, in ms; 16,000 by default. The service itself may wait 8 s for a result, or `waitS`. */
  readonly timeoutMs?: number | undefined
  /** No try begins later than this after the call, in ms; 30,000 by default. 0: one try. */
  readonly deadlineMs?: number | undefined
  /** Further tries after failures; 3 by default. Asking for the result of an accepted request does not count. */
  readonly maxRetries?: number | undefined
  /** Ends the call, with the reason of the signal; a call that moves money ends with `OutcomeUnknownError`. */
  readonly signal?: AbortSignal | undefined
  /** A UUID of yours, for the logs of both sides. */
  readonly correlationId?: string | undefined
}

/** Of calls that move money. */
export interface MoneyOptions extends CallOptions {
  /**
   * A new one for each intention to move money: 1 to 255 printable ASCII characters. Write it down before the call; with it
   * the call can be repeated after a crash. A random UUID when it is left out.
   */
  readonly idempotencyKey?: string
  /** How long the service may wait for the result in one try: 0 to 30 s; 8 s by default. */
  readonly waitS?: number | undefined
}

export interface ClientOptions extends Pick<CallOptions, 'timeoutMs' | 'deadlineMs' | 'maxRetries'> {
  /** Address of the API, such as `https://payments.example`. */
  readonly baseUrl: string
  /** The secret key, `svc_test.….…` or `svc_live.….…`. Keep it on your server. */
  readonly apiKey: string
  /** Pause before the first retry, in ms; 250 by default. It doubles with each one, and `Retry-After` may lengthen it. */
  readonly retryPauseMs?: number | undefined
  /** For tests, proxies and instrumentation; the global `fetch` by default. */
  readonly fetch?: typeof fetch | undefined
  /** Called for each answer (`debug`) and each retry (`warn`). */
  readonly logger?: Logger | undefined
}

const CALL_OPTIONS: Readonly<Record<keyof MoneyOptions, true>> = {
  timeoutMs: true,
  deadlineMs: true,
  maxRetries: true,
  signal: true,
  correlationId: true,
  idempotencyKey: true,
  waitS: true
}

/** What `setTimeout` can count to. */
const TIMER_MS_MAX = 2_147_483_647
const WAIT_S_MAX = 30

/** The least and the most; NaN is refused with what is out of range: with it a call would end at once, or never. */
const LIMITS = {
  timeoutMs: [1, TIMER_MS_MAX],
  deadlineMs: [0, Number.POSITIVE_INFINITY],
  maxRetries: [0, Number.POSITIVE_INFINITY],
  retryPauseMs: [0, TIMER_MS_MAX],
  waitS: [0, WAIT_S_MAX]
} as const

/**
 * Throws a `TypeError` for what cannot be sent, and for mistakes that may move a wrong amount: an amount in the place of the
 * options, and a key that is undefined, which would be replaced by a new one in each call.
 */
export function checkCallOptions(options: MoneyOptions): void {
  const unknown = Object.keys(options).find(name => !Object.hasOwn(CALL_OPTIONS, name))
  if (unknown !== undefined) throw new TypeError(`\`${unknown}\` is not an option of a call.`)
  checkNumbers(options)
  if (options.waitS !== undefined && !Number.isInteger(options.waitS)) {
    throw new TypeError('`waitS` must be whole seconds.')
  }
  const { correlationId, signal } = options
  if (correlationId !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(correlationId)) {
    throw new TypeError('`correlationId` must be a UUID.')
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('`signal` must be an AbortSignal.')
  if ('idempotencyKey' in options) checkKey(options.idempotencyKey)
}

/** Throws a `TypeError` for options of a client with which no call can work. */
export function checkClientOptions(options: ClientOptions): void {
  const { apiKey, fetch, logger } = options
  if (typeof apiKey !== 'string' || !/^svc_(test|live)\.[!--/-~]+\.[!--/-~]+$/.test(apiKey)) {
    throw new TypeError(
      '`apiKey` must be a secret key: svc_test or svc_live, the key id and the secret, with dots between.'
    )
  }
  checkNumbers(options)
  if (fetch !== undefined && typeof fetch !== 'function') throw new TypeError('`fetch` must be a function.')
  if (logger !== undefined && !(typeof logger.debug === 'function' && typeof logger.warn === 'function')) {
    throw new TypeError('`logger` must have the methods `debug` and `warn`.')
  }
}

/** Throws a `TypeError` for a live key that would go over a network unencrypted; to a proxy on this machine it may. */
export function checkEncryption({ protocol, hostname }: URL, apiKey: string): void {
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (protocol === 'http:' && apiKey.startsWith('svc_live') && !isHere) {
    throw new TypeError('`baseUrl` must begin with https:// for a live key.')
  }
}

function checkNumbers(options: Partial<Record<keyof typeof LIMITS, number | undefined>>): void {
  for (const [name, [min, max]] of Object.entries(LIMITS)) {
    const value: unknown = options[name as keyof typeof LIMITS]
    const isGood = typeof value === 'number' && value >= min && value <= max
    if (value !== undefined && !isGood) throw new TypeError(`\`${name}\` must be a number from ${min} to ${max}.`)
  }
}

function checkKey(key: unknown): void {
  if (typeof key !== 'string') {
    throw new TypeError('`idempotencyKey` is no text. Give one, or leave the option out for a random key.')
  }
  // `fetch` removes spaces at the ends: two keys would be one.
  if (!/^[\x20-\x7e]{1,255}$/.test(key) || key !== key.trim()) {
    throw new TypeError(
      '`idempotencyKey` must have 1 to 255 printable ASCII characters, and no space at an end. Nothing was sent.'
    )
  }
}
