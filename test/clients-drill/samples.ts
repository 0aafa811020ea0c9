/** The first charges and the signature checks of client/samples/. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Languages as the pages name them, with the files of their samples. */
export const sampleFiles = {
  go: { charge: 'main.go', signature: 'signature.go' },
  java: { charge: 'FirstCharge.java', signature: 'Signature.java' },
  python: { charge: 'first_charge.py', signature: 'signature.py' },
  php: { charge: 'first-charge.php', signature: 'signature.php' },
  js: { charge: 'first-charge.mjs', signature: 'signature.mts' }
} as const

export type SampleLanguage = keyof typeof sampleFiles

const folders = { charge: 'first-charge', signature: 'check-signature' } as const

/** The sample in a language. Throws when there is none. */
export function sampleOf(root: string, kind: keyof typeof folders, language: SampleLanguage): string {
  return readFileSync(join(root, 'client/samples', folders[kind], sampleFiles[language][kind]), 'utf8')
}
