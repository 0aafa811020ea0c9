/** How a process ends: its contract with its supervisor. */

/**
 * From the signal to the end, after the drain. `npm start` promises to be gone within 15 s and the drain; the rest is for
 * the supervisor itself.
 */
export const STOP_DEADLINE_MS = 12_000

/** Processes that a load balancer sends requests to. */
const LISTENING = ['api', 'tokens', 'notifications']

/** How long a stopping process still takes requests before it stops (ms). */
export function drainMsOf(processName: string, config: { readonly drainDelayMs: number }): number {
  return LISTENING.includes(processName) ? config.drainDelayMs : 0
}

/** Exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h): another start will not mend it. */
export const EXIT_CONFIG = 78
