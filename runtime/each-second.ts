/**
 * One timer for all that a process checks once a second. Waking up costs an idle process more than a check, and a process has
 * several checks for each of its connections.
 */
const checks = new Set<() => void>()
let timer: NodeJS.Timeout | undefined

/** Calls `check` once a second, the first time within a second. It keeps no process alive. Returns the function that ends it. */
export function eachSecond(check: () => void): () => void {
  // The same check may be asked for twice, and each ends alone.
  const own = (): void => check()
  checks.add(own)
  timer ??= setInterval(checkAll, 1_000).unref()
  return () => {
    checks.delete(own)
    if (checks.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function checkAll(): void {
  for (const check of [...checks]) check()
}
