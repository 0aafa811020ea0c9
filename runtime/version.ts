/** The version of the service, and the versions of Node that it supports, from package.json. */
import { readFileSync } from 'node:fs'

const manifest: { version: string; engines: { node: string } } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
)

/** Such as `1.2.0`. `npm run package` writes the tag or the commit into the package.json of the release. */
export const version = manifest.version

/** The versions of Node that tests run on, such as `^20.19 || ^22.12`. */
export const supportedNode = manifest.engines.node

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
