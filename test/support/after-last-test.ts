/** Stops what many test files of one process share. Each module registers what it has started, so that none is loaded in vain. */
const stops = new Set<() => Promise<void>>()

/** `stop` runs once, after the last test. */
export function afterLastTest(stop: () => Promise<void>): void {
  stops.add(stop)
}

/** Called once, by mocha-hooks.ts. */
export async function stopAll(): Promise<void> {
  await Promise.all([...stops].map(stop => stop()))
}

/** As in `process.getActiveResourcesInfo()`. Each of them outlives the tests that need it only by a mistake of theirs. */
const SERVERS_AND_PROCESSES = /Server|Process|Worker|MessagePort/

/**
 * Ends a process that only timers and connections keep alive, and says so: clients of servers that are stopped try again for
 * ever when their library forgets that they were closed. A server or a process that was left open stays, and the runner, which
 * tells by `LEFT_OPEN_AFTER_MS` how long it waits, counts that as a failure.
 */
export function endOfTimers(): void {
  const waitsMs = Number(process.env['LEFT_OPEN_AFTER_MS'])
  if (!(waitsMs > 0)) return
  const end = (): void => {
    const left = process.getActiveResourcesInfo()
    process.stderr.write(`Left open ${Math.round(waitsMs / 3)} ms after the last test: ${left.join(', ')}\n`)
    if (!left.some(resource => SERVERS_AND_PROCESSES.test(resource))) process.exit()
  }
  setTimeout(end, waitsMs / 3).unref()
}
