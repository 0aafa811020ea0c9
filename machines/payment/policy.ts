/** The rules that decisions follow. */
import type { Environment } from '../model.js'

/** Those that come from configuration. */
export interface PolicySettings {
  /** Decides what return codes mean. */
  readonly environment: Environment
  /** Gaps between queries that get an answer, but no conclusive one (ms); the last one repeats. */
  readonly reconcileDelaysMs: readonly number[]
  /** How long the network must know nothing of a sale until that counts as proof (ms). */
  readonly notFoundHorizonMs: number
  /** Age at which an open query is listed for manual review (ms). */
  readonly reconcileListAfterMs: number
}

export interface Policy extends PolicySettings {
  /**
   * The data came back then, and nothing vouches for what was changed before: it may be older than what was done (ms).
   * 0: all of it is vouched for.
   */
  readonly unvouchedBeforeMs: number
}

/**
 * The policy where it is no question whether data is vouched for. The settings are its prototype: one that a process may not read
 * (runtime/config.ts) still throws, and is not undefined.
 */
export function vouchedPolicy(settings: PolicySettings): Policy {
  const own: Pick<Policy, 'unvouchedBeforeMs'> = { unvouchedBeforeMs: 0 }
  return Object.assign(Object.create(settings) as PolicySettings, own)
}
