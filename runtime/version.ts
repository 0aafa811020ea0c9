/** Which version of the service this is: `npm run package` writes the tag or the commit into the release's package.json. */
import { readFileSync } from 'node:fs'

const manifest: { version: string; engines: { node: string } } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
)

/** Such as `1.2.0`. In a checkout the version of package.json, for every commit. */
export const version = manifest.version

/** The versions of Node that tests run on, such as `^20.19 || ^22.12`. */
export const supportedNode = manifest.engines.node
