/** A service for one tool or test: the real processes, beside all others on this machine. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseUrls } from './databases.js'
import { prepareFor } from './demo.js'
import { Service } from './service.js'

export interface OwnServiceOptions {
  /** The checkout. */
  readonly root: string
  /** A folder for this service alone. The caller removes it after `stop`. */
  readonly dataDir: string
  /** On top of free ports and no limit of requests. */
  readonly env: Readonly<Record<string, string>>
  /** Such as `payments=2`. */
  readonly scale: readonly string[]
  /** Gets the output of the processes. */
  readonly write: (text: string) => void
  /** Text of a Procfile; the project's own when absent. */
  readonly procfile?: string
  /** Resolves to the addresses at which the processes reach both Redis; the real ones when absent. */
  readonly redisSeenAt?: (redis: DatabaseUrls) => Promise<DatabaseUrls>
}

/** The test environment, on free ports, without a limit of requests. */
const OWN = {
  SERVICE_ENV: 'test',
  PORT: '0',
  TOKENS_PORT: '0',
  NETWORK_PORT: '0',
  NOTIFICATIONS_PORT: '0',
  RATE_LIMIT_PER_SECOND: '0',
  TOKENS_MAX_PER_KEY: '0'
}

/** The caller has to `start` it, and to `stop` it in any case. Of the caller's environment it gets `PATH` alone. */
export async function ownService({ root, dataDir, ...options }: OwnServiceOptions): Promise<Service> {
  const env = { PATH: process.env['PATH'], ...OWN, ...options.env, DATA_DIR: dataDir }
  return new Service({
    root,
    procfile: options.procfile ?? (await readFile(join(root, 'Procfile'), 'utf8')),
    scale: options.scale,
    env,
    output: { isColoured: false },
    write: options.write,
    prepare: async place => ({
      ...(await prepareFor(env)(place)),
      ...(await options.redisSeenAt?.(place.redis))
    })
  })
}
