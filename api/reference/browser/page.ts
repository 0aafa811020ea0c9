/**
 * The reference page: Swagger UI over /openapi.json, light or dark as the reader's system is. Requests can be tried in the
 * test environment only: a key that moves money does not belong into a page.
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
const isTest = document.getElementById('reference')?.dataset['environment'] === 'test'
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: isTest ? ['get', 'post', 'put', 'delete'] : [],
  // A key that is typed here is gone with the page.
  persistAuthorization: false
})
