/** The file of `archive export`: under its name it is complete, or it does not exist. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { MonthContent, MonthSnapshot } from '../../archive/months.js'

/** Throws when the file, or the draft that an export writes first, exists. */
export function requireNewFile(file: string): void {
  if (existsSync(file)) throw new Error(`${file} exists already. Nothing was exported. Give another name.`)
  if (!existsSync(partOf(file))) return
  throw new Error(
    `${partOf(file)} exists already: another export writes it, or one died. Nothing was exported. Remove the file when no export runs.`
  )
}

/**
 * Writes one line of JSON for each payment. Resolves when the file is on the disk. A process that dies leaves FILE.part
 * behind; an error removes it.
 */
export async function writeExport(
  file: string,
  snapshot: MonthSnapshot,
  onPage: (written: number) => void
): Promise<MonthContent & { readonly sha256: string }> {
  const part = partOf(file)
  // Payments have names of buyers: only the owner may read the file.
  const handle = await open(part, 'wx', 0o600)
  try {
    const written = await writePages(handle, snapshot, onPage)
    await handle.sync()
    await handle.close()
    await rename(part, file)
    await syncFolder(dirname(file))
    return written
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  }
}

function partOf(file: string): string {
  return `${file}.part`
}

async function writePages(
  handle: FileHandle,
  snapshot: MonthSnapshot,
  onPage: (written: number) => void
): Promise<MonthContent & { readonly sha256: string }> {
  const sha256 = createHash('sha256')
  let [payments, fingerprint] = [0, 0n]
  for await (const page of snapshot.pages()) {
    const text = page.lines.map(line => `${line}\n`).join('')
    sha256.update(text)
    await handle.writeFile(text)
    payments += page.lines.length
    fingerprint += page.fingerprint
    onPage(payments)
  }
  return { payments, fingerprint, sha256: sha256.digest('hex') }
}

/** A rename is durable when the folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync()
  await handle.close()
}
