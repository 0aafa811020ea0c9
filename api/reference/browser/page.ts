/**
 * The reference page: Swagger UI over /openapi.json, or over /openapi-tokens.json, in the colour scheme of the system. It sends
 * requests, so it exists in the test environment only: a key that moves money does not belong into a page.
 */

declare const SwaggerUIBundle: ((options: Readonly<Record<string, unknown>>) => SwaggerUi) & {
  readonly presets: { readonly apis: unknown }
}

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, key: string): void
}

/** A component of Swagger UI, and what it shows: only what is used here. */
type Component = (props: AnswerProps) => unknown
interface AnswerProps {
  readonly code: string
  readonly response: { get(name: 'description'): string }
  getComponent(name: 'Markdown'): unknown
}
interface React {
  createElement(kind: unknown, props: object | null, ...children: readonly unknown[]): unknown
  useState(first: boolean): [boolean, (next: boolean) => void]
}

const dark = matchMedia('(prefers-color-scheme: dark)')

function followSystem(): void {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

dark.addEventListener('change', followSystem)
followSystem()

/** Accessibility that Swagger UI lacks: names of controls, and examples that the keyboard reaches. */
function completeControls(): void {
  nameEach('.examples-select-element', list => `Examples of answer ${list.closest('tr')?.dataset['code'] ?? ''}`)
  nameEach('.parameters-col_description > select', list => list.closest('tr')?.dataset['paramName'] ?? '')
  nameEach('.body-param__text', () => 'Request body')
  nameEach('.close-modal', () => 'Close')
  for (const button of document.querySelectorAll('.auth-btn-wrapper [aria-label]')) button.removeAttribute('aria-label')
  for (const example of document.querySelectorAll<HTMLElement>('pre.microlight')) example.tabIndex = 0
}

function nameEach(selector: string, nameOf: (control: Element) => string): void {
  for (const control of document.querySelectorAll(`${selector}:not([aria-label])`)) {
    control.setAttribute('aria-label', nameOf(control))
  }
}

/** An answer other than a success is one line until it is opened: a route with its fifteen was ten screens long. */
function foldAnswers(Original: Component, { React: { createElement, useState } }: { React: React }): Component {
  return props => {
    const { code, response, getComponent } = props
    const [isOpen, open] = useState(/^20[01]$/.test(code))
    if (isOpen) return createElement(Original, props)
    const words = createElement(getComponent('Markdown'), { source: response.get('description') })
    const button = {
      type: 'button',
      className: 'unfold',
      'aria-label': `Show answer ${code}`,
      onClick: () => open(true)
    }
    return createElement(
      'tr',
      { className: 'response', 'data-code': code },
      createElement('td', { className: 'response-col_status' }, code),
      createElement(
        'td',
        { className: 'response-col_description folded' },
        words,
        createElement('button', button, 'Show')
      )
    )
  }
}

/** The same headers come with every answer of a route. */
function foldHeaders(Original: Component, { React: { createElement } }: { React: React }): Component {
  return props =>
    createElement('details', null, createElement('summary', null, 'Headers'), createElement(Original, props))
}

/**
 * The key in the address that `npm start` prints, for the document that is shown. A fragment stays in the browser; here it goes
 * on to the other document, and leaves the address, which may be shared.
 */
function keyInAddress(name: 'api_key' | 'publishable_key'): string | null {
  const keys = new URLSearchParams(location.hash.slice(1))
  if (!keys.has('api_key')) return null
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a[href^="docs"]')) link.hash = location.hash
  history.replaceState(null, '', location.pathname + location.search)
  return keys.get(name)
}

new MutationObserver(completeControls).observe(document.body, { childList: true, subtree: true })
const isOfTokens = new URLSearchParams(location.search).get('document') === 'tokens'
const key = keyInAddress(isOfTokens ? 'publishable_key' : 'api_key')
const ui = SwaggerUIBundle({
  url: isOfTokens ? 'openapi-tokens.json' : 'openapi.json',
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  // Swagger UI puts a link into the button that opens an operation: screen readers announce only one of the two.
  plugins: [
    {
      components: { DeepLink: ({ text }: { readonly text: unknown }) => text },
      wrapComponents: { response: foldAnswers, headers: foldHeaders }
    }
  ],
  onComplete: () => {
    if (key !== null) ui.preauthorizeApiKey(isOfTokens ? 'publishableKey' : 'apiKey', key)
  },
  syntaxHighlight: { theme: 'tomorrow-night' },
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ['get', 'post', 'put', 'delete'],
  // A typed key is lost when the page closes.
  persistAuthorization: false
})
