/** Whose time a payment POST took, for its merchant: the header `Server-Timing` (W3C). */
import type { WorkerTimes } from '../../redis/commands/replies.js'

/** Where the time of a request went, ms: waiting for a worker, for the payment's lock, for the network, and the rest. */
export interface StepTimes {
  readonly queueMs: number
  readonly lockMs: number
  readonly networkMs: number
  readonly storeMs: number
}

/**
 * The steps of a request that took `totalMs`, from what its worker measured. `storeMs` is what is left: acceptance, reads
 * and commits, and the way of the reply. So the four add up to the whole.
 */
export function stepTimes(totalMs: number, { queueMs, lockMs, networkMs, workMs }: WorkerTimes): StepTimes {
  // Measured between two machines' clocks, which may disagree: never more than what is left for it.
  const queue = Math.min(queueMs, Math.max(0, totalMs - workMs))
  return { queueMs: queue, lockMs, networkMs, storeMs: Math.max(0, totalMs - queue - lockMs - networkMs) }
}

/** `queue;dur=0.8, lock;dur=0.4, network;dur=1502, store;dur=3.1`, in ms. */
export function serverTiming({ queueMs, lockMs, networkMs, storeMs }: StepTimes): string {
  const part = (name: string, ms: number): string => `${name};dur=${Math.round(ms * 10) / 10}`
  return [part('queue', queueMs), part('lock', lockMs), part('network', networkMs), part('store', storeMs)].join(', ')
}
