// Makes the files that browsers get. Runs after the compiler, which has checked the same sources.
//
// dist/hosted-fields: each script whole in one file, so that one hash (subresource integrity, Content-Security-Policy)
// covers all of it. dist/reference: the reference page of `api`, with Swagger UI from its package.
import { copyFileSync, readdirSync } from 'node:fs'
import { build } from 'esbuild'

const source = 'api/tokens/browser'

await build({
  entryPoints: [`${source}/fields.ts`, `${source}/frame.ts`, `${source}/frame.css`, `${source}/frame.html`],
  outdir: 'dist/hosted-fields',
  bundle: true,
  minify: true,
  format: 'iife',
  charset: 'utf8',
  // Browsers of the last five years or so.
  target: ['chrome111', 'safari16.2', 'firefox113'],
  loader: { '.html': 'copy' },
  logLevel: 'warning'
})

const reference = 'api/reference/browser'
await build({
  entryPoints: [`${reference}/page.ts`, `${reference}/page.css`, `${reference}/page.html`],
  outdir: 'dist/reference',
  bundle: true,
  minify: true,
  charset: 'utf8',
  loader: { '.html': 'copy' },
  logLevel: 'warning'
})
for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css']) {
  copyFileSync(`node_modules/swagger-ui-dist/${name}`, `dist/reference/${name}`)
}
for (const name of readdirSync('docs').filter(name => /^openapi.*\.json$/.test(name))) {
  copyFileSync(`docs/${name}`, `dist/reference/${name}`)
}
