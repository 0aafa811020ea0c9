import { delay } from '../../runtime/delay.js'

/** Begins `rate` things a second, each when its time has come and not when the last one has ended. Returns how many. */
export async function openLoop(
  { seconds, rate }: { readonly seconds: number; readonly rate: number },
  begin: (index: number) => void,
  signal?: AbortSignal
): Promise<number> {
  const beganMs = performance.now()
  const total = Math.round(seconds * rate)
  let index = 0
  for (; index < total; index++) {
    const dueMs = beganMs + (index * 1_000) / rate
    if (dueMs > performance.now()) await delay(dueMs - performance.now(), signal)
    if (signal?.aborted) break
    begin(index)
  }
  return index
}
