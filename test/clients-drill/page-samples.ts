/** The samples of docs/API.md and docs/WEBHOOKS.md, as they stand on the page. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Languages as the pages name them, with the file that a sample becomes. */
export const sampleFiles = {
  go: { charge: 'main.go', signature: 'signature.go' },
  java: { charge: 'FirstCharge.java', signature: 'Signature.java' },
  python: { charge: 'first_charge.py', signature: 'signature.py' },
  php: { charge: 'first-charge.php', signature: 'signature.php' },
  js: { charge: 'first-charge.mjs', signature: 'signature.mts' }
} as const

export type SampleLanguage = keyof typeof sampleFiles

/** The code block in a language that follows the heading. Throws when there is none. */
export function pageSample(root: string, kind: 'charge' | 'signature', language: SampleLanguage): string {
  const [page, heading] =
    kind === 'charge' ? ['docs/API.md', '## A first charge'] : ['docs/WEBHOOKS.md', '### Check a signature']
  const text = readFileSync(join(root, page), 'utf8')
  const section = text.slice(text.indexOf(`\n${heading}\n`) + 1).split(/\n##+ /)[0] ?? ''
  // A function without types would not compile as TypeScript.
  const fence = language === 'js' && kind === 'signature' ? 'ts' : language
  const [, code] = new RegExp(`\`\`\`${fence}\\n(.*?)\`\`\``, 's').exec(section) ?? []
  if (code === undefined) throw new Error(`${page} has no sample in ${language} below "${heading}".`)
  return code
}
