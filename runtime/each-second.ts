/**
 * One timer for all that a process looks at once a second. Waking up costs an idle process more than a look, and a process has
 * several looks for each of its connections.
 */
const looks = new Set<() => void>()
let timer: NodeJS.Timeout | undefined

/** Calls `look` once a second, the first time within a second. It keeps no process alive. Returns the function that ends it. */
export function eachSecond(look: () => void): () => void {
  // The same look may be asked for twice, and each ends alone.
  const own = (): void => look()
  looks.add(own)
  timer ??= setInterval(lookAtAll, 1_000).unref()
  return () => {
    looks.delete(own)
    if (looks.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function lookAtAll(): void {
  for (const look of [...looks]) look()
}
