/** Which kind of world a seed is. */
import { runContrarySeed } from './contrary-world.js'
import { type Mutant, mutants } from './mutants.js'
import { runRestoredSeed } from './restored-world.js'
import { type RunOptions, type RunResult, runSeed } from './run-world.js'

export interface AnyWorldOptions extends RunOptions {
  /** All worlds have a contrary acquirer; else a share of those for which nothing else is chosen. */
  readonly isContrary?: boolean
  /** The durable data goes back in the middle (restored-world.ts). */
  readonly isRestored?: boolean
}

/** One world of so many has a contrary acquirer. */
const CONTRARY_EVERY = 5

/** Runs a seed; the same seed with the same options gives the same run. */
export async function runAnySeed(options: AnyWorldOptions): Promise<RunResult> {
  const { seed, mutant: name, trace } = options
  const mutant: Mutant | null = name === undefined ? null : mutants[name]
  if (options.isRestored === true) return await runRestoredSeed({ seed, mutant, ...(trace && { trace }) })
  const isContrary = options.isContrary === true || mutant?.contrary !== undefined || isOneOfTheShare(options)
  if (!isContrary) return await runSeed(options)
  const kind = mutant?.contrary
  return await runContrarySeed({ seed, mutant, ...(kind && { kind }), ...(trace && { trace }) })
}

function isOneOfTheShare({
  seed,
  mutant,
  failover,
  isTampered,
  isTouched,
  trouble,
  secrets,
  hasArchive
}: RunOptions): boolean {
  const chosen = [mutant, failover, trouble, secrets].some(choice => choice !== undefined)
  const isAnyChosen = chosen || isTampered === true || isTouched === true || hasArchive === true
  return !isAnyChosen && seed % CONTRARY_EVERY === 1
}
