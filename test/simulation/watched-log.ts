import { createLogger } from '../../runtime/log.js'
import type { WorkerDeps } from '../../workers/payments/worker-deps.js'
import type { World } from './world.js'

/** What trouble of a world leads to; what it must leave behind is audited. */
const EXPECTED: ReadonlySet<string> = new Set(['a command could not be completed, moving it to the dead letters'])
/** What is true only where streams are changed by hand. */
const OF_TAMPERING = 'a payment in progress had no command any more'

/** Silent, but for what a worker calls an error: it goes into `errors`. */
export function watchedLog(world: World, errors: string[], isTampered: boolean): WorkerDeps['log'] {
  const note = (fields: { err?: unknown }, text: string): void => {
    const cause = fields.err instanceof Error ? `: ${fields.err.message}` : ''
    world.trace('error log', `${text}${cause}`)
    if (!EXPECTED.has(text) && !(isTampered && text === OF_TAMPERING)) errors.push(`${text}${cause}`)
  }
  const log: unknown = Object.create(createLogger('simulation', 'silent'), {
    child: { value: () => log },
    error: { value: note },
    warn: { value: (_: unknown, text: string) => world.trace('warning', text) }
  })
  return log as WorkerDeps['log']
}
