/**
 * What the processes of a host have seen last of the durable data, in files below DATA_DIR: one for each kind of process.
 * They outlive both Redis. A host without such a folder has none, and loses nothing but this memory.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRecord, parseJson } from '../../runtime/json.js'
import type { Memory, Seen } from './epochs.js'

const FOLDER = 'seen'

export class SeenFile {
  readonly #folder: string
  readonly #file: string
  readonly #installation: string

  constructor(dataDir: string, processName: string, installation: string) {
    this.#folder = join(dataDir, FOLDER)
    this.#file = join(this.#folder, `${processName}.json`)
    this.#installation = installation
  }

  /** What each file of this host remembers of this installation. Never rejects. */
  async readAll(): Promise<Seen[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const texts = await Promise.all(
      names
        .filter(name => name.endsWith('.json'))
        .map(name => readFile(join(this.#folder, name), 'utf8').catch(() => ''))
    )
    return texts.flatMap(text => this.#seenIn(text))
  }

  /** Replaces the file of this kind of process. Rejects where the folder can't be written. */
  async write({ atMs, memories }: Seen): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
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

function isMemory(value: unknown): value is Memory {
  return (
    isRecord(value) &&
    typeof value['epoch'] === 'number' &&
    typeof value['count'] === 'number' &&
    typeof value['serverId'] === 'string'
  )
}
