/** Node's debugger has no password: who reaches its port reads the memory of the process, with cards and keys. */
import { url } from 'node:inspector'

/** Node opens its debugger at SIGUSR1 unless the signal has a listener. */
export function ignoreDebugSignal(): void {
  process.on('SIGUSR1', () => undefined)
}

/** The sentence about a debugger that is open, or undefined. */
export function debuggerProblem(): string | undefined {
  const address = url()
  if (address === undefined) return undefined
  return `A debugger is open at ${new URL(address).host}: remove --inspect from the command line and from NODE_OPTIONS, and do not send SIGUSR1`
}
