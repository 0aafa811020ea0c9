/** One thing that is wrong with an installation, and what `operator doctor` must say of it. */
import type { Redis } from '../../../redis/connection/connections.js'
import type { TestPostgres } from '../../support/postgres.js'
import type { ServiceUnderTest } from '../../support/service.js'

/** Where to break something. */
export interface Place {
  readonly service: ServiceUnderTest
  readonly durable: Redis
  readonly memoryOnly: Redis
  /** An archive that the service does not use. */
  readonly postgres: TestPostgres
  /** A folder for files. */
  readonly dir: string
}

/** Options and settings of the command, and how to mend what was broken. */
export interface Breakage {
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  undo?(): Promise<unknown> | unknown
}

export interface Fault {
  readonly name: string
  break(place: Place): Promise<Breakage> | Breakage
  /** What must be found. */
  readonly check: string
  readonly state?: 'problem' | 'warning' | 'not checked'
  readonly found: RegExp
  readonly mend: RegExp
}
