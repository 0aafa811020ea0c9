/** The first charges of client/samples/, and the signature checks of docs/WEBHOOKS.md as they stand on the page. */
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

/** The sample in a language: a file of client/samples/, or the code block on the page. Throws when there is none. */
export function sampleOf(root: string, kind: 'charge' | 'signature', language: SampleLanguage): string {
  if (kind === 'charge')
    return readFileSync(join(root, 'client/samples/first-charge', sampleFiles[language].charge), 'utf8')
  const text = readFileSync(join(root, 'docs/WEBHOOKS.md'), 'utf8')
  const section = text.slice(text.indexOf('\n### Check a signature\n') + 1).split(/\n##+ /)[0] ?? ''
  // A function without types would not compile as TypeScript.
  const fence = language === 'js' ? 'ts' : language
  const [, code] = new RegExp(`\`\`\`${fence}\\n(.*?)\`\`\``, 's').exec(section) ?? []
  if (code === undefined) throw new Error(`docs/WEBHOOKS.md has no sample in ${language}.`)
  return code
}
