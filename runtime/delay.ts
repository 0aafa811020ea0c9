/**
 * Resolves after `ms`, or when `signal` aborts. The caller checks the signal afterwards. A time that is over is 0: Node
 * would print a warning.
 */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.max(0, ms))
    signal?.addEventListener('abort', end, { once: true })
  })
}
