/**
 * What the processes of a host have seen last of the durable data, in files below DATA_DIR: one for each kind of process.
 * They outlive both Redis. A host without such a folder has none, and loses nothing but this memory.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isRecord, parseJson } from '../../runtime/json.js'
import { withTimeout } from '../../runtime/with-timeout.js'
import type { Memory, Seen } from './epochs.js'

const FOLDER = 'seen'
/** A disk that hangs keeps no money waiting for longer (ms). */
const READ_WITHIN_MS = 1_000

export class SeenFile {
  readonly #folder: string
  readonly #file: string
  readonly #installation: string
  #making: Promise<void> | null = null
  /** At most one of each is in flight: what hangs on a disk keeps a thread of the process. */
  #reading: Promise<Seen[]> | null = null
  #writing: Promise<void> | null = null

  constructor(dataDir: string, processName: string, installation: string) {
    this.#folder = resolve(dataDir, FOLDER)
    this.#file = join(this.#folder, `${processName}.json`)
    this.#installation = installation
  }

  /** What each file of this host remembers of this installation; nothing while they can't be read. Never rejects. */
  async readAll(): Promise<Seen[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    return await withTimeout(READ_WITHIN_MS, this.#reading).catch(() => [])
  }

  /** Begins to replace the file of this kind of process, unless an earlier write has not ended. */
  write(seen: Seen): void {
    this.#writing ??= this.#replace(seen)
      .catch(() => {
        // The folder may be gone, and may be made again.
        this.#making = null
      })
      .finally(() => {
        this.#writing = null
      })
  }

  async #read(): Promise<Seen[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const texts: string[] = []
    for (const name of names.filter(file => file.endsWith('.json'))) {
      texts.push(await readFile(join(this.#folder, name), 'utf8').catch(() => ''))
    }
    return texts.flatMap(text => this.#seenIn(text))
  }

  async #replace({ atMs, memories }: Seen): Promise<void> {
    this.#making ??= makeFolder(this.#folder)
    await this.#making
    const content = { installation: this.#installation, atMs, memories: Object.fromEntries(memories) }
    const draft = `${this.#file}.${process.pid}`
    await writeFile(draft, JSON.stringify(content), { mode: 0o600 })
    await rename(draft, this.#file)
  }

  #seenIn(text: string): Seen[] {
    const content = parseJson(text)
    if (!isRecord(content) || content['installation'] !== this.#installation) return []
    const { atMs, memories } = content
    if (typeof atMs !== 'number' || !isRecord(memories)) return []
    const read = Object.entries(memories).flatMap(([partition, memory]) =>
      isMemory(memory) ? [[Number(partition), memory] as const] : []
    )
    return [{ atMs, memories: new Map(read) }]
  }
}

/** Not `recursive`: Node tries for ever below a folder that takes none, such as /proc. */
async function makeFolder(path: string): Promise<void> {
  const make = (): Promise<void> =>
    mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  await make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    await makeFolder(dirname(path))
    await make()
  })
}

function isMemory(value: unknown): value is Memory {
  return (
    isRecord(value) &&
    typeof value['epoch'] === 'number' &&
    typeof value['count'] === 'number' &&
    typeof value['serverId'] === 'string'
  )
}
