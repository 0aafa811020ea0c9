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
