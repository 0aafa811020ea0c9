// Makes the files of the hosted fields that browsers get, in dist/hosted-fields: each script whole in one file, so that
// one hash (subresource integrity, Content-Security-Policy) covers all of it. Runs after the compiler, which has
// checked the same sources.
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
