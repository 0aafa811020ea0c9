/** Which versions of Node the service is tested on. */
import { supportedNode } from './version.js'

/** The sentence about a version of Node that no test runs on, such as `v25.1.0`, or undefined. */
export function nodeWarning(running = process.version): string | undefined {
  const [major, minor = 0] = numbersIn(running)
  const isSupported = supportedNode.split('||').some(range => {
    const [line, oldest = 0] = numbersIn(range)
    return major === line && minor >= oldest
  })
  if (isSupported) return undefined
  return `This process runs on Node ${running}, on which it was not tested. Start it with one of ${supportedNode}; 24 is best.`
}

function numbersIn(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number)
}
