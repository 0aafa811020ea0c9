/** `operator archive` on a Redis and a PostgreSQL of their own, and a folder for its exports. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestArchive, usePostgresArchive } from './archived-payments.js'
import { type OperatorAnswer, operate } from './operator.js'
import { type TestRedis, useRedis } from './redis.js'

export interface OperatorArchive {
  readonly servers: TestRedis
  readonly archived: TestArchive
  /** Runs a verb of `archive`; `env` adds settings. */
  run(args: readonly string[], env?: NodeJS.ProcessEnv, more?: Parameters<typeof operate>[2]): Promise<OperatorAnswer>
  /** What `status` says of the oldest month. */
  oldest(env?: NodeJS.ProcessEnv): Promise<Record<string, unknown> | undefined>
  /** A name for an export that no file has. */
  newFile(): string
}

/** Call it inside a `describe`: each of its tests begins with an empty archive. */
export function useOperatorArchive(): OperatorArchive {
  const servers = useRedis()
  const archived = usePostgresArchive()
  let dir = ''
  let files = 0
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'archive-export-'))
  })
  after(() => rm(dir, { recursive: true, force: true }))
  const test: OperatorArchive = {
    servers,
    archived,
    run: (args, env, more) => {
      const own = { SERVICE_ENV: 'test', REDIS_URL: servers.url, ARCHIVE_URL: archived.postgres.url }
      return operate({ ...own, ...env }, ['archive', ...args], more)
    },
    oldest: async env => ((await test.run(['status', '--json'], env)).json() as Record<string, unknown>[])[0],
    newFile: () => join(dir, `${++files}.ndjson`)
  }
  return test
}
