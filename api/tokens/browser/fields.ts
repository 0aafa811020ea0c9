/**
 * The script for the merchant's page: `Service.fields({ publishableKey, element })` puts the card fields into `element`,
 * `await fields.tokenize()` gives a one-use token. What the buyer types stays in the frame, on the origin of `tokens`.
 */
import type { Fields, FieldsOptions } from './fields-api.js'
import { placeOf } from './fields-options.js'
import type { FieldsError as FieldsErrorApi, FieldsToken } from './fields-values.js'
import { CONNECT, type Connect, isRecord, type Refusal, type Report } from './protocol.js'
import { localeFor, texts } from './texts.js'

/** Why there is no token; `message` is for the buyer, in the language of the fields. */
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

interface Waiting<T = FieldsToken> {
  readonly resolve: (value: T) => void
  readonly reject: (error: FieldsError) => void
}

const LOAD_DEADLINE_MS = 15_000
const HEIGHT_MAX_PX = 1_200
/** Only while a script runs for the first time does the browser tell which one it is. */
const SCRIPT = document.currentScript
const ORIGIN = new URL(SCRIPT instanceof HTMLScriptElement ? SCRIPT.src : location.href).origin

function fields(options: FieldsOptions): Fields {
  const element = placeOf(options)
  const locale = localeFor(options.locale ?? (document.documentElement.lang || navigator.language))
  const { failures, frameTitle } = texts[locale]
  const unavailable: Refusal = { code: 'fields_unavailable', message: failures.unavailable, fields: [] }
  const destroyed: Refusal = { code: 'destroyed', message: failures.refused, fields: [] }
  const frame = makeFrame(frameTitle)
  const waiting = new Map<number, Waiting>()
  let requests = 0
  let isDestroyed = false

  const { ready, become, isReady } = readiness()
  const failAll = (refusal: Refusal): void => {
    for (const { reject } of [...waiting.values()]) reject(new FieldsError(refusal))
    waiting.clear()
  }
  const giveUp = (refusal: Refusal): void => {
    become.reject(new FieldsError(refusal))
    failAll(refusal)
  }
  const timer = setTimeout(() => giveUp(unavailable), LOAD_DEADLINE_MS)

  const openChannel = (): MessageChannel => {
    const opened = new MessageChannel()
    opened.port1.onmessage = ({ data }: MessageEvent<Report>) => {
      if (data.type === 'ready' || data.type === 'key_refused') clearTimeout(timer)
      if (data.type === 'ready') become.resolve()
      if (data.type === 'key_refused') giveUp({ code: data.code, message: failures.refused, fields: [] })
      take(data, { frame, waiting, element, options })
    }
    return opened
  }
  let channel = openChannel()
  let hasLoaded = false
  frame.addEventListener('load', () => {
    if (hasLoaded) {
      // A frame that is moved in the page loads anew: what was typed is gone, and the channel ends in the old one.
      channel.port1.close()
      channel = openChannel()
      failAll(unavailable)
      options.onChange?.({ brand: null, isComplete: false })
    }
    hasLoaded = true
    frame.contentWindow?.postMessage(connectOf(options, locale), ORIGIN, [channel.port2])
  })
  element.replaceChildren(frame)

  return {
    ready,
    tokenize: async () => {
      // Over a slow line they come when `ready` has given up: what a buyer can type into can be paid with.
      if (!isReady()) await ready
      if (isDestroyed || !frame.isConnected) throw new FieldsError(destroyed)
      const request = ++requests
      const answer = new Promise<FieldsToken>((resolve, reject) => waiting.set(request, { resolve, reject }))
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

interface Readiness {
  readonly ready: Promise<void>
  readonly become: Waiting<void>
  /** Whether the frame has said so by now, in time or not. */
  readonly isReady: () => boolean
}

function readiness(): Readiness {
  let become: Waiting<void> = { resolve: () => undefined, reject: () => undefined }
  let isReady = false
  const ready = new Promise<void>((resolve, reject) => {
    become = {
      resolve: () => {
        isReady = true
        resolve()
      },
      reject
    }
  })
  // Who does not ask for `ready` learns of it from tokenize().
  ready.catch(() => undefined)
  return { ready, become, isReady: () => isReady }
}

/** The first message. Its target pins the receiver: should anything but `tokens` have answered, the browser drops it. */
function connectOf({ publishableKey, style }: FieldsOptions, locale: string): Connect {
  return { type: CONNECT, publishableKey, locale, style: { ...style } }
}

/** Only the frame is at the other end of the channel. */
function take(
  report: Report,
  place: { frame: HTMLIFrameElement; waiting: Map<number, Waiting>; element: HTMLElement; options: FieldsOptions }
): void {
  if (report.type === 'height') place.frame.style.height = `${Math.min(report.px, HEIGHT_MAX_PX)}px`
  if (report.type === 'change') place.options.onChange?.({ brand: report.brand, isComplete: report.isComplete })
  // For the engineer, in the console of the page: a page that does not ask for `ready` gets it too.
  if (report.type === 'key_refused') reportError(keyError(place.options.publishableKey, report.code))
  // Enter in a field does what it does in any form of the page.
  if (report.type === 'submit') place.element.closest('form')?.requestSubmit()
  if (report.type !== 'token' && report.type !== 'refusal') return
  const asked = place.waiting.get(report.request)
  place.waiting.delete(report.request)
  if (report.type === 'token') asked?.resolve(report.token)
  else asked?.reject(new FieldsError(report.refusal))
}

function keyError(key: string, code: string): TypeError {
  return new TypeError(
    `Service.fields: the publishable key ${key} is refused (${code}). Get the key of this environment from the operator.`
  )
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
