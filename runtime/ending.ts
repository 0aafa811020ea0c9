/** How a process ends: what it promises to whoever started it. */

/** From the signal to the end. `npm start` promises to be gone within 15 s; the rest is for the supervisor itself. */
export const STOP_DEADLINE_MS = 12_000

/** Exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h): another start will not mend it. */
export const EXIT_CONFIG = 78
