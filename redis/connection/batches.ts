/**
 * Calls that share a command of Redis: those that are asked for in one turn of the event loop, as the commands of one read are. A
 * busy service runs few commands for many calls, and none waits for the answer of another.
 */

import { nameWrongType } from './wrong-types.js'

/** Calls that share one command: a server should not be kept from others by it. */
const BATCH_MAX = 64

/** Named as the client names what a server answers: redis-errors.ts tells them apart. */
class CallFailed extends Error {
  override readonly name = 'ReplyError'
}

interface Asked<A, R> {
  readonly call: A
  readonly resolve: (answer: R) => void
  readonly reject: (error: unknown) => void
}

/** Answers each of its calls, in their order; a text is the reason why one of them alone failed. */
type RunTogether<A, R> = (calls: readonly A[]) => Promise<readonly (R | string)[]>

/**
 * The same work for one call; it rejects with the others of its turn when `run` does. `keysOf`: the keys of one call, for the
 * operator who has to know which one failed it.
 */
export function inBatches<A, R>(
  run: RunTogether<A, R>,
  keysOf: (call: A) => readonly string[] = () => []
): (call: A) => Promise<R> {
  let gathered: Asked<A, R>[] | null = null
  return call =>
    new Promise((resolve, reject) => {
      const asked = { call, resolve, reject }
      if (gathered !== null && gathered.length < BATCH_MAX) return void gathered.push(asked)
      const batch = [asked]
      gathered = batch
      setImmediate(() => {
        if (gathered === batch) gathered = null
        void answerAll(batch, run, keysOf)
      })
    })
}

async function answerAll<A, R>(
  batch: readonly Asked<A, R>[],
  run: RunTogether<A, R>,
  keysOf: (call: A) => readonly string[]
): Promise<void> {
  try {
    const answers = await run(batch.map(({ call }) => call))
    for (const [at, { call, resolve, reject }] of batch.entries()) {
      const answer = answers[at] as R | string
      if (typeof answer === 'string') {
        const error = new CallFailed(answer)
        nameWrongType(error, keysOf(call))
        reject(error)
      } else resolve(answer)
    }
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
