/**
 * The script for the merchant's page: `Service.fields({ publishableKey, element })` puts the card fields into `element`,
 * `Service.cvvField` the security code of a stored card; `await fields.tokenize()` returns a one-use token. What the buyer types stays in the frame, on the origin of `tokens`.
 */
import { isRecord } from '../../../runtime/json.js'
import type { CardService, CvvFieldOptions, Fields, FieldsOptions } from './fields-api.js'
import type { CvvToken, FieldsError as FieldsErrorApi, FieldsToken } from './fields-values.js'
import { colorsFor } from './page-colors.js'
import { CONNECT, type Connect, type Refusal, type Report } from './protocol.js'
import { cssVariables } from './style-options.js'
import { LOCALES, localeFor, texts } from './texts.js'

const OPTIONS: Readonly<Record<keyof FieldsOptions, true>> = {
  publishableKey: true,
  element: true,
  locale: true,
  style: true,
  onChange: true
}
const CVV_OPTIONS: Readonly<Record<keyof CvvFieldOptions, true>> = { ...OPTIONS, brand: true }

/** Why there is no token. `message` is for the buyer, in the language of the fields. */
class FieldsError extends Error implements FieldsErrorApi {
  readonly code: string
  readonly fields: Refusal['fields']

  constructor({ code, message, fields }: Refusal) {
    super(message)
    this.name = 'FieldsError'
    this.code = code
    this.fields = fields
  }
}

interface Waiting<Token> {
  readonly resolve: (token: Token) => void
  readonly reject: (error: FieldsError) => void
}

/** For the frame to arrive. */
const LOAD_DEADLINE_MS = 15_000
/** For its first message, once it has: longer than its check of the key. A page that blocks frames loads an empty one. */
const FIRST_MESSAGE_MS = 5_000
const HEIGHT_MAX_PX = 1_200
/** Until the frame reports its height. */
const CARD_HEIGHT_PX = 290
const CVV_HEIGHT_PX = 78
/** The browser sets `currentScript` only during the first run of a script. */
const SCRIPT = document.currentScript
const ORIGIN = new URL(SCRIPT instanceof HTMLScriptElement ? SCRIPT.src : location.href).origin

const service: CardService = {
  fields: options => mount<FieldsToken>(options, placeOf('fields', options, OPTIONS)),
  cvvField: options => mount<CvvToken>(options, placeOf('cvvField', options, CVV_OPTIONS), options.brand ?? '')
}

/** Puts the frame into `element`: for a card, or for the security code of a card of the brand `cvvOf`. */
function mount<Token>(options: FieldsOptions, element: HTMLElement, cvvOf?: string): Fields<Token> {
  const locale = localeFor(options.locale ?? (document.documentElement.lang || navigator.language))
  const { failures, frameTitle, labels } = texts[locale]
  const unavailable: Refusal = { code: 'fields_unavailable', message: failures.unavailable, fields: [] }
  const destroyed: Refusal = { code: 'destroyed', message: failures.refused, fields: [] }
  const frame = cvvOf === undefined ? makeFrame(frameTitle, CARD_HEIGHT_PX) : makeFrame(labels.cvv, CVV_HEIGHT_PX)
  const waiting = new Map<number, Waiting<Token>>()
  let requests = 0
  let isDestroyed = false

  const { ready, state } = readiness()
  const failAll = (refusal: Refusal): void => {
    for (const { reject } of [...waiting.values()]) reject(new FieldsError(refusal))
    waiting.clear()
  }
  const giveUp = (refusal: Refusal): void => {
    state.reject(new FieldsError(refusal))
    failAll(refusal)
  }
  let timer = setTimeout(() => giveUp(unavailable), LOAD_DEADLINE_MS)

  const openChannel = (): MessageChannel => {
    const opened = new MessageChannel()
    opened.port1.onmessage = ({ data }: MessageEvent<Report<Token>>) => {
      if (data.type === 'ready' || data.type === 'key_refused') clearTimeout(timer)
      if (data.type === 'ready') state.resolve()
      if (data.type === 'key_refused') giveUp({ code: data.code, message: failures.refused, fields: [] })
      take(data, { frame, waiting, element, options })
    }
    return opened
  }
  let channel = openChannel()
  let hasLoaded = false
  frame.addEventListener('load', () => {
    if (hasLoaded) {
      // A frame that is moved in the page loads again: what was typed is lost, and the channel belongs to the old document.
      channel.port1.close()
      channel = openChannel()
      failAll(unavailable)
      options.onChange?.({ brand: null, isComplete: false })
    } else {
      clearTimeout(timer)
      timer = setTimeout(() => giveUp(unavailable), FIRST_MESSAGE_MS)
    }
    hasLoaded = true
    frame.contentWindow?.postMessage(connectOf(options, locale, element, cvvOf), ORIGIN, [channel.port2])
  })
  element.replaceChildren(frame)

  return {
    ready,
    tokenize: async () => {
      // On a slow connection the fields may appear after `ready` was rejected: they work nevertheless.
      if (!state.isReady) await ready
      if (isDestroyed || !frame.isConnected) throw new FieldsError(destroyed)
      const request = ++requests
      const answer = new Promise<Token>((resolve, reject) => waiting.set(request, { resolve, reject }))
      channel.port1.postMessage({ type: 'tokenize', request })
      return answer
    },
    focus: () => channel.port1.postMessage({ type: 'focus' }),
    destroy: () => {
      isDestroyed = true
      giveUp(destroyed)
      channel.port1.close()
      frame.remove()
    }
  }
}

/** The promise `ready`, and its state: whether the frame is ready, also after the promise was rejected. */
function readiness() {
  const state = { isReady: false, resolve: (): void => undefined, reject: (_: FieldsError): void => undefined }
  const ready = new Promise<void>((resolve, reject) => {
    state.reject = reject
    state.resolve = () => {
      state.isReady = true
      resolve()
    }
  })
  // A page that ignores `ready` gets its error from tokenize().
  ready.catch(() => undefined)
  return { ready, state }
}

/** The first message. Its target origin makes the browser drop it when the frame is not of `tokens`. */
function connectOf(
  { publishableKey, style }: FieldsOptions,
  locale: string,
  element: HTMLElement,
  cvvOf: string | undefined
): Connect {
  const kind = cvvOf === undefined ? {} : { cvvOf }
  return { type: CONNECT, publishableKey, locale, style: { ...colorsFor(element, style), ...style }, ...kind }
}

/** Handles a message of the frame, the only other end of the channel. */
function take<Token>(
  report: Report<Token>,
  place: {
    frame: HTMLIFrameElement
    waiting: Map<number, Waiting<Token>>
    element: HTMLElement
    options: FieldsOptions
  }
): void {
  if (report.type === 'height') place.frame.style.height = `${Math.min(report.px, HEIGHT_MAX_PX)}px`
  if (report.type === 'change') place.options.onChange?.({ brand: report.brand, isComplete: report.isComplete })
  // For the developer, in the console of the page, also when the page ignores `ready`.
  if (report.type === 'key_refused') reportError(keyError(place.options.publishableKey, report.code))
  // Enter in a field submits the form of the page.
  if (report.type === 'submit') place.element.closest('form')?.requestSubmit()
  if (report.type !== 'token' && report.type !== 'refusal') return
  const asked = place.waiting.get(report.request)
  place.waiting.delete(report.request)
  if (report.type === 'token') asked?.resolve(report.token)
  else asked?.reject(new FieldsError(report.refusal))
}

function keyError(key: string, code: string): TypeError {
  return new TypeError(
    `Service: the publishable key ${key} is refused (${code}). Get the key of this environment from the operator.`
  )
}

function makeFrame(title: string, heightPx: number): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  frame.src = `${ORIGIN}/v1/fields/frame`
  frame.title = title
  frame.referrerPolicy = 'no-referrer'
  frame.style.cssText = `display:block;width:100%;height:${heightPx}px;border:0;background:transparent;color-scheme:light`
  return frame
}

/** The element for the fields. Throws a `TypeError` for every mistake in the options, for the developer of the page. */
function placeOf(method: keyof CardService, options: unknown, known: Readonly<Record<string, true>>): HTMLElement {
  if (!isRecord(options)) {
    throw new TypeError(
      `Service.${method} needs an object, such as { publishableKey: "svc_test.…", element: "#card-fields" }`
    )
  }
  const mistake = (option: string, problem: string): TypeError =>
    new TypeError(`Service.${method}: \`${option}\` ${problem}`)
  const { element, publishableKey, locale, style, onChange, brand } = options
  const unknown = Object.keys(options).find(name => !Object.hasOwn(known, name))
  if (unknown !== undefined) throw mistake(unknown, `is not an option; choose from ${Object.keys(known).join(', ')}`)
  const place = typeof element === 'string' ? document.querySelector(element) : element
  if (!(place instanceof HTMLElement)) throw mistake('element', 'is not an element of this page')
  if (!/^svc_(test|live)\.[^.]+$/.test(String(publishableKey))) {
    throw mistake('publishableKey', 'must be a publishable key; never put a secret key into a page')
  }
  if (locale !== undefined && !LOCALES.some(known => known === locale)) {
    throw mistake('locale', `must be ${LOCALES.join(' or ')}`)
  }
  if (brand !== undefined && typeof brand !== 'string') throw mistake('brand', 'must be the brand of a stored card')
  if (onChange !== undefined && typeof onChange !== 'function') throw mistake('onChange', 'must be a function')
  cssVariables(style)
  return place
}

const present: unknown = Reflect.get(window, 'Service')
Reflect.set(window, 'Service', Object.freeze({ ...(isRecord(present) ? present : {}), ...service }))
