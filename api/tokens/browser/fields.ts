/**
 * The script for the merchant's page: `Service.fields({ publishableKey, element })` puts the card fields into `element`,
 * `await fields.tokenize()` gives a one-use token. What the buyer types stays in the frame, on the origin of `tokens`.
 */
import { CONNECT, type Connect, isRecord, type Refusal, type Report, type Token } from './protocol.js'
import { cssVariables, type StyleOptions } from './style-options.js'
import { localeFor, texts } from './texts.js'

export interface FieldsOptions {
  /** `svc_test.<key id>` or `svc_live.<key id>`. */
  readonly publishableKey: string
  /** An empty element of the page, or a selector of one. */
  readonly element: HTMLElement | string
  /** `pt-BR` or `en`; the language of the page when absent. */
  readonly locale?: string
  readonly style?: StyleOptions
  /** Called while the buyer types. */
  readonly onChange?: (state: { readonly brand: string | null; readonly isComplete: boolean }) => void
}

export interface Fields {
  /** Resolves when the fields can be used; rejects with `fields_unavailable`. */
  readonly ready: Promise<void>
  /** Checks the fields and gives a token for one payment, or rejects with `FieldsError`. */
  tokenize(): Promise<Token>
  focus(): void
  /** Takes the fields out of the page. */
  destroy(): void
}

/** Why there is no token; `message` is for the buyer, in the language of the fields. */
class FieldsError extends Error implements Refusal {
  readonly code: string
  readonly fields: Refusal['fields']

  constructor({ code, message, fields }: Refusal) {
    super(message)
    this.name = 'FieldsError'
    this.code = code
    this.fields = fields
  }
}

interface Waiting {
  readonly resolve: (token: Token) => void
  readonly reject: (error: FieldsError) => void
}

const LOAD_DEADLINE_MS = 15_000
const HEIGHT_MAX_PX = 1_200
/** Only while a script runs for the first time does the browser tell which one it is. */
const SCRIPT = document.currentScript
const ORIGIN = new URL(SCRIPT instanceof HTMLScriptElement ? SCRIPT.src : location.href).origin

function fields(options: FieldsOptions): Fields {
  const element = typeof options.element === 'string' ? document.querySelector(options.element) : options.element
  if (!(element instanceof HTMLElement)) throw new TypeError('Service.fields: `element` is not an element of this page')
  if (!/^svc_(test|live)\.[^.]+$/.test(options.publishableKey)) {
    throw new TypeError(
      'Service.fields: `publishableKey` must be a publishable key; never put a secret key into a page'
    )
  }
  cssVariables(options.style)
  const locale = localeFor(options.locale ?? (document.documentElement.lang || navigator.language))
  const frame = makeFrame(texts[locale].frameTitle)
  const { port1: port, port2 } = new MessageChannel()
  const waiting = new Map<number, Waiting>()
  let requests = 0

  const failAll = (refusal: Refusal): void => {
    for (const { reject } of waiting.values()) reject(new FieldsError(refusal))
    waiting.clear()
  }
  const ready = new Promise<void>((resolve, reject) => {
    const unavailable = { code: 'fields_unavailable', message: texts[locale].failures.offline, fields: [] }
    const timer = setTimeout(() => {
      reject(new FieldsError(unavailable))
      failAll(unavailable)
    }, LOAD_DEADLINE_MS)
    port.onmessage = ({ data }: MessageEvent<Report>) => {
      if (data.type === 'ready') {
        clearTimeout(timer)
        resolve()
      }
      take(data, { frame, waiting, element, options })
    }
  })
  // Who does not ask for `ready` learns of it from tokenize().
  ready.catch(() => undefined)

  const connect: Connect = {
    type: CONNECT,
    publishableKey: options.publishableKey,
    locale,
    style: { ...options.style }
  }
  // The target pins the receiver: should anything but `tokens` have answered, the browser drops the message.
  frame.addEventListener('load', () => frame.contentWindow?.postMessage(connect, ORIGIN, [port2]), { once: true })
  element.replaceChildren(frame)

  return {
    ready,
    tokenize: async () => {
      await ready
      const request = ++requests
      const answer = new Promise<Token>((resolve, reject) => waiting.set(request, { resolve, reject }))
      port.postMessage({ type: 'tokenize', request })
      return answer
    },
    focus: () => port.postMessage({ type: 'focus' }),
    destroy: () => {
      failAll({ code: 'destroyed', message: texts[locale].failures.refused, fields: [] })
      port.close()
      frame.remove()
    }
  }
}

/** The channel has the frame at its other end, and nobody else. */
function take(
  report: Report,
  place: { frame: HTMLIFrameElement; waiting: Map<number, Waiting>; element: HTMLElement; options: FieldsOptions }
): void {
  if (report.type === 'height') place.frame.style.height = `${Math.min(report.px, HEIGHT_MAX_PX)}px`
  if (report.type === 'change') place.options.onChange?.({ brand: report.brand, isComplete: report.isComplete })
  // Enter in a field does what it does in any form of the page.
  if (report.type === 'submit') place.element.closest('form')?.requestSubmit()
  if (report.type !== 'token' && report.type !== 'refusal') return
  const asked = place.waiting.get(report.request)
  place.waiting.delete(report.request)
  if (report.type === 'token') asked?.resolve(report.token)
  else asked?.reject(new FieldsError(report.refusal))
}

function makeFrame(title: string): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  frame.src = `${ORIGIN}/v1/fields/frame`
  frame.title = title
  frame.referrerPolicy = 'no-referrer'
  frame.style.cssText = 'display:block;width:100%;height:290px;border:0;background:transparent;color-scheme:light'
  return frame
}

const present: unknown = Reflect.get(window, 'Service')
Reflect.set(window, 'Service', Object.freeze({ ...(isRecord(present) ? present : {}), fields }))
