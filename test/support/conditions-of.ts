/** A process that only has conditions: what code under test registers with `onReadyCheck`, `onWarning` and `onStop`. */
import { type Health, healthOf } from '../../runtime/health.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { createLogger } from '../../runtime/log.js'

type Registrations = Pick<ProcessContext, 'log' | 'signal' | 'onStop' | 'onReadyCheck' | 'onWarning'>

export class ConditionsUnderTest implements Registrations {
  readonly log = createLogger('test', 'silent')
  readonly #stopping = new AbortController()
  readonly #conditions = { problems: new Map(), warnings: new Map() }
  readonly #stops: (() => Promise<void> | void)[] = []

  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  readonly onReadyCheck: Registrations['onReadyCheck'] = (part, check) => this.#conditions.problems.set(part, check)
  readonly onWarning: Registrations['onWarning'] = (part, check) => this.#conditions.warnings.set(part, check)
  readonly onStop: Registrations['onStop'] = (_, stop) => this.#stops.unshift(stop)

  /** What /readyz would answer. */
  health(): Promise<Health> {
    return healthOf(this.#conditions)
  }

  /** Runs what was registered with `onStop`, the newest first. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const stop of this.#stops.splice(0)) await stop()
  }
}
