/** Time comes from outside everywhere, so that tests move it and never wait for it. */
export interface Clock {
  /** ms since the epoch */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
