/**
 * Lets Playwright drive Firefox ESR over WebDriver BiDi, in pages with a Content-Security-Policy.
 *
 * - Playwright expects a newer Firefox: for each page it sets things that 140 cannot set, and gives up at the first
 *   refusal. The tests need none of them (`EMPTY_ANSWERS`).
 * - Playwright runs what tests evaluate with `eval`, which the policies of our pages forbid. What WebDriver calls itself
 *   is free of the policy: the text becomes a part of that function. It must be one expression, or a function.
 */
import { firefox } from 'playwright-core'

/** Firefox answers these with `unknown command`, which becomes an empty answer here. Other refusals reach the test. */
const EMPTY_ANSWERS = new Set([
  'network.addDataCollector',
  'browser.setDownloadBehavior',
  'emulation.setScreenOrientationOverride',
  'emulation.setScreenSettingsOverride',
  'emulation.setMediaFeaturesOverride'
])

/** What Playwright calls to evaluate: (is function, by value, text, count of arguments, ...arguments). */
const EVALUATE = '(utilityScript, ...args) => utilityScript.evaluate(...args)'

/** In the place of the extension that Playwright types texts with, which needs `eval` too. Names the frame that has the focus. */
const INSERT_TEXT = `() => { window.__pw_bidiInsertText = text =>
  document.activeElement?.contentWindow ? document.activeElement : void document.execCommand('insertText', false, text) }`

interface Message {
  readonly id: number
  readonly params?: {
    readonly functionDeclaration?: string
    readonly arguments?: readonly { readonly value?: unknown }[]
  }
  readonly method?: string
  readonly error?: string
}

/** What carries the messages between Playwright and the browser. */
interface Transport {
  send(message: Message): void
  onmessage(message: object): void
}

/** A part of the inside of playwright-core. */
interface BidiFirefox {
  connectToTransport(transport: Transport, options: object): Promise<object>
}

/** Call it once, before the first launch with the channel `moz-firefox`. Throws when playwright-core has changed inside. */
export function adaptToFirefoxEsr(): void {
  const inside: { _connection?: { toImpl?(from: object): { _bidiFirefox?: BidiFirefox } } } = Object(firefox)
  const bidi = inside._connection?.toImpl?.(firefox)._bidiFirefox
  if (bidi === undefined) throw new Error('playwright-core is not the version that test/runner/firefox-esr.ts adapts')
  const connect = bidi.connectToTransport
  bidi.connectToTransport = (transport, options) => {
    // Sets `onmessage` before it waits for the first answer.
    const connected = connect.call(bidi, transport, options)
    adaptMessages(transport)
    return connected
  }
}

function adaptMessages(transport: Transport): void {
  const asked = new Set<number>()
  const { send, onmessage } = transport
  transport.send = message => {
    if (EMPTY_ANSWERS.has(message.method ?? '')) asked.add(message.id)
    send.call(transport, withoutEval(message))
  }
  transport.onmessage = (message: Message) => {
    const isEmpty = asked.delete(message.id) && message.error === 'unknown command'
    onmessage(isEmpty ? { type: 'success', id: message.id, result: {} } : message)
  }
}

function withoutEval(message: Message): Message {
  if (message.params?.functionDeclaration !== EVALUATE) return message
  const given = String(message.params.arguments?.[3]?.value)
  const text = given.includes('injectedScript.extend(') ? INSERT_TEXT : given.replace(/;\s*$/, '')
  const functionDeclaration = `(utilityScript, ...args) => {
    const { global } = utilityScript
    utilityScript.global = { eval: () => (${text}) }
    try { return utilityScript.evaluate(...args) } finally { utilityScript.global = global }
  }`
  return { ...message, params: { ...message.params, functionDeclaration } }
}
