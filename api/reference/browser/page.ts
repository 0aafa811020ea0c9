/**
 * The reference page: Swagger UI over /openapi.json, or over /openapi-tokens.json, in the colour scheme of the system. It can send requests in the test
 * environment only: a key that moves money does not belong into a page.
 */

declare const SwaggerUIBundle: ((options: Readonly<Record<string, unknown>>) => unknown) & {
  readonly presets: { readonly apis: unknown }
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

new MutationObserver(completeControls).observe(document.body, { childList: true, subtree: true })
const isTest = document.getElementById('reference')?.dataset['environment'] === 'test'
const isOfTokens = new URLSearchParams(location.search).get('document') === 'tokens'
SwaggerUIBundle({
  url: isOfTokens ? 'openapi-tokens.json' : 'openapi.json',
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  // Swagger UI puts a link into the button that opens an operation: screen readers announce only one of the two.
  plugins: [{ components: { DeepLink: ({ text }: { readonly text: unknown }) => text } }],
  syntaxHighlight: { theme: 'tomorrow-night' },
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: isTest ? ['get', 'post', 'put', 'delete'] : [],
  // A typed key is lost when the page closes.
  persistAuthorization: false
})
