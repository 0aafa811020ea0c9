/** How a process stops: its contract with its supervisor. */

/**
 * From the signal to the exit, without the drain. `npm start` stops within 15 s and the drain; the difference is for the
 * supervisor itself.
 */
export const STOP_DEADLINE_MS = 12_000

/** Processes that a load balancer sends requests to. */
const LISTENING = ['api', 'tokens', 'notifications']

/** How long a process takes requests after the signal to stop (ms). */
export function drainMsOf(processName: string, config: { readonly drainDelayMs: number }): number {
  return LISTENING.includes(processName) ? config.drainDelayMs : 0
}

/** Exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h): another start would fail too. */
export const EXIT_CONFIG = 78
