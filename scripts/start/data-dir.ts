/** The data directory: its lock, and the small files in it that other programs read. */
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { isRecord, parseJson } from '../../runtime/json.js'

/** Where each process serves /readyz and /metrics, by its name. */
export const OPS_FILE = 'ops.json'
/** `{"redis_url", "secrets_redis_url"}`: the operator's command line and other tools read them. */
export const REDIS_FILE = 'redis.json'

/** The right to use the directory. */
export interface DataDirLock {
  /** The directory, absolute and without links. */
  readonly dir: string
  release(): Promise<void>
}

/**
 * Creates `dir` and locks it: two Redis on one append-only file would destroy it. The lock is a listening socket, which
 * the kernel closes however its holder ends. Rejects with the pid of the holder.
 */
export async function lockDataDir(dir: string): Promise<DataDirLock> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const real = await realpath(dir)
  const address = lockAddress(real)
  const holder = await holderOf(address)
  if (holder !== undefined) throw inUse(real, holder)
  if (!address.startsWith('\0')) await rm(address, { force: true })
  const server = createServer(socket => socket.on('error', () => undefined).end(String(process.pid)))
  try {
    server.listen(address)
    await once(server, 'listening')
  } catch (error) {
    throw inUse(real, (await holderOf(address)) ?? String(error))
  }
  return { dir: real, release: () => new Promise(resolve => server.close(() => resolve())) }
}

/** On Linux a socket without a file, which can't be left over; elsewhere a file in the directory. */
function lockAddress(dir: string): string {
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 32)
  return process.platform === 'linux' ? `\0card-payments-${name}` : join(dir, 'lock.sock')
}

function inUse(dir: string, holder: string): Error {
  return new Error(
    `Another npm start (pid ${holder}) uses the data in ${dir}. Stop it, or choose another folder with DATA_DIR.`
  )
}

async function holderOf(address: string): Promise<string | undefined> {
  return await text(createConnection(address)).catch(() => undefined)
}

/** The content of a JSON file of the directory, or undefined when it is absent or not JSON. */
export async function readJson(dir: string, name: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const value = parseJson(await readFile(join(dir, name), 'utf8').catch(() => ''))
  return isRecord(value) ? value : undefined
}

/** Writes a JSON file as `replaceFile` does. */
export async function writeJson(dir: string, name: string, value: object): Promise<void> {
  await replaceFile(join(dir, name), `${JSON.stringify(value, null, 2)}\n`)
}

/** Replaces a file atomically, readable for its owner only. */
export async function replaceFile(file: string, content: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.new`
  await writeFile(draft, content, { mode: 0o600 })
  await rename(draft, file)
}
