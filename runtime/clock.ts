/** Code gets the time from a clock, so that tests can move it and need not wait. */
export interface Clock {
  /** ms since the epoch */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
