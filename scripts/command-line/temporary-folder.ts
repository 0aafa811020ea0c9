/** Temporary folders of tools that run their own service. They may hold key files of the test environment. */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Processes may still write into the folder while it is removed. */
const REMOVING = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

/** Makes a folder below `parent`, which exists. It is removed at the latest when this process exits, unless it is killed. */
export async function temporaryFolder(prefix: string, parent = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, prefix))
  const removeNow = (): void => rmSync(path, REMOVING)
  process.once('exit', removeNow)
  return {
    path,
    async remove() {
      process.off('exit', removeNow)
      await rm(path, REMOVING)
    }
  }
}
