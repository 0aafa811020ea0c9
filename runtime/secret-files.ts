/** Finds files with secrets that every user of the machine may open. */
import { stat } from 'node:fs/promises'

/** A file, and the variable that names it. */
export interface SecretFile {
  readonly variable: string
  readonly file: string
}

const RIGHTS_OF_OTHERS = 0o007

/** The sentence about files whose mode gives rights to every user, or undefined. Missing files are reported elsewhere. */
export async function openFilesWarning(files: readonly SecretFile[]): Promise<string | undefined> {
  const found = await Promise.all(
    files.map(async ({ variable, file }) => {
      const mode = await stat(file).then(
        stats => stats.mode,
        () => 0
      )
      return (mode & RIGHTS_OF_OTHERS) === 0 ? [] : [`${variable} (${file}, mode ${(mode & 0o777).toString(8)})`]
    })
  )
  if (found.flat().length === 0) return undefined
  return `Every user of this machine has rights to files with secrets: ${found.flat().join(', ')}. Remove them: chmod o= FILE.`
}
