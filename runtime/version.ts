/** Which version of the service this is: `npm run package` writes the tag or the commit into the release's package.json. */
import { readFileSync } from 'node:fs'

const manifest: { version?: unknown } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Such as `1.2.0`. In a checkout the version of package.json, for every commit. */
export const version = String(manifest.version)
