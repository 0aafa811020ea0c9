/** The header `Server-Timing` (W3C) of payment POSTs: how long each step took. */
import type { WorkerTimes } from '../../redis/commands/replies.js'

/** Time of a request in ms: waiting for a worker, for the lock of the payment, for the network, and the rest. */
export interface StepTimes {
  readonly queueMs: number
  readonly lockMs: number
  readonly networkMs: number
  readonly storeMs: number
}

/**
 * The steps of a request that took `totalMs`, from the times of its worker. `storeMs` is the rest: acceptance, reads,
 * commits and the reply. The four steps add up to `totalMs`.
 */
export function stepTimes(totalMs: number, { queueMs, lockMs, networkMs, workMs }: WorkerTimes): StepTimes {
  // Measured by the clocks of two machines, which may differ: bounded by the time that remains.
  const queue = Math.min(queueMs, Math.max(0, totalMs - workMs))
  return { queueMs: queue, lockMs, networkMs, storeMs: Math.max(0, totalMs - queue - lockMs - networkMs) }
}

/** `queue;dur=0.8, lock;dur=0.4, network;dur=1502, store;dur=3.1`, in ms. */
export function serverTiming({ queueMs, lockMs, networkMs, storeMs }: StepTimes): string {
  const part = (name: string, ms: number): string => `${name};dur=${Math.round(ms * 10) / 10}`
  return [part('queue', queueMs), part('lock', lockMs), part('network', networkMs), part('store', storeMs)].join(', ')
}
