/** The rejection of `withTimeout`. */
export class NoAnswerInTime extends Error {}

/** The promise's result, or a rejection with `NoAnswerInTime` after `ms`. The work continues; its late result is dropped. */
export async function withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswerInTime(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, deadline])
  } finally {
    clearTimeout(timer)
  }
}
