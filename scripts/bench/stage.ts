/** The systems of one comparison, started together with their data in one folder, and surely stopped. */
import { join, resolve } from 'node:path'
import { temporaryFolder } from '../command-line/temporary-folder.js'
import { startRedis } from '../start/embedded-redis.js'
import { freePort } from '../start/ports.js'
import { obtainRedis } from '../start/redis-binary.js'
import { type ServiceSystem, type System, startRival, startService } from './systems.js'

export interface Stage {
  readonly service: ServiceSystem
  readonly bare: System
  readonly bullmq: System
}

/**
 * Runs `work` with the service and its rivals, whose data lie in a new folder below `parentDir`; stops all of them and
 * removes the folder, also when the work fails.
 */
export async function onStage<T>(
  parentDir: string,
  tell: (line: string) => void,
  work: (stage: Stage) => Promise<T>
): Promise<T> {
  const binary = await obtainRedis(resolve('.vendor'), tell)
  const place = await temporaryFolder('payments-bench-', parentDir)
  const ends: (() => Promise<unknown>)[] = [place.remove]
  const started = <S extends { readonly stop: () => Promise<void> }>(system: S): S => {
    ends.push(system.stop)
    return system
  }
  try {
    const redis = await startRedis({
      kind: 'redis',
      binary,
      port: await freePort(),
      dir: join(place.path, 'rivals'),
      databases: 1,
      onOutput: () => undefined
    })
    ends.push(() => redis.process.stop(2_000))
    const bare = started(await startRival('bare', redis.url))
    const bullmq = started(await startRival('bullmq', redis.url))
    const service = started(await startService(join(place.path, 'service'), { env: {}, scale: [] }))
    return await work({ service, bare, bullmq })
  } finally {
    for (const end of ends.reverse()) await end()
  }
}
