/**
 * The second line of defence: the end of a process whose client does not recover.
 *
 * Clients reconnect by themselves. One that stays unusable although a fresh client of the same kind works is in a state that
 * we have not foreseen, so this watch knows no causes. The process ends, because its supervisor starts it again anyway.
 */
import { Cluster, type Redis as Single } from 'ioredis'
import { CannotRecover } from '../../runtime/cannot-recover.js'
import { eachSecond } from '../../runtime/each-second.js'
import { isComplete } from './cluster-masters.js'

/** Looks at an unusable client before a fresh one is tried. Counted, not measured: a suspended process counts nothing. */
const LOOKS_BEFORE_TRIAL = 5
/** Looks at which the fresh client is usable, and the other is not, before the process ends. */
const LOOKS_BEFORE_END = 5
/** Then another fresh client is tried: this one may be in the same state as the first. */
const TRIAL_LOOKS_MAX = 10

interface Trial {
  readonly client: Single | Cluster
  looks: number
  usableLooks: number
}

/**
 * Watches a client that should be usable whenever its server is. `fresh` makes another one that is not connected yet. Throws
 * `CannotRecover` out of a timer, which ends the process (runtime/lifecycle.ts). Returns the function that stops it.
 */
export function endWhenStuck(client: Single | Cluster, fresh: () => Single | Cluster, server: string): () => void {
  let unusableLooks = 0
  let trial: Trial | undefined
  const endTrial = (): void => {
    trial?.client.disconnect()
    trial = undefined
  }
  const look = (): void => {
    if (isUsable(client)) {
      unusableLooks = 0
      endTrial()
      return
    }
    unusableLooks++
    if (unusableLooks < LOOKS_BEFORE_TRIAL) return
    if (trial === undefined || trial.looks >= TRIAL_LOOKS_MAX) {
      endTrial()
      trial = { client: begun(fresh()), looks: 0, usableLooks: 0 }
      return
    }
    trial.looks++
    trial.usableLooks = isUsable(trial.client) ? trial.usableLooks + 1 : 0
    if (trial.usableLooks < LOOKS_BEFORE_END) return
    stop()
    throw new CannotRecover(
      `A connection to the Redis of ${server} has not recovered for ${unusableLooks} s (${client.status}), although a new one works.`
    )
  }
  const endLooks = eachSecond(look)
  const stop = (): void => {
    endLooks()
    endTrial()
  }
  return stop
}

function isUsable(client: Single | Cluster): boolean {
  if (!(client instanceof Cluster)) return client.status === 'ready' && client.stream.writable
  return client.status === 'ready' && isComplete(client) && client.nodes('master').every(isUsable)
}

function begun(client: Single | Cluster): Single | Cluster {
  // The watched client logs what is wrong with the server.
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  return client
}
