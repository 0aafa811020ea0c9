/**
 * `npm run containers-drill`: builds the image and runs deploy/compose.yaml in a real Docker engine. Exit code 0: each step
 * did what it must.
 */
import { resolve } from 'node:path'
import { stopOnSignals } from '../../scripts/command-line/ending.js'
import { temporaryFolder } from '../../scripts/command-line/temporary-folder.js'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { vendorDir } from '../../scripts/start/databases.js'
import { logFile } from '../support/option-values.js'
import { runInMachine } from './machine.js'
import { obtainParts, whatIsMissing } from './parts.js'
import { makeSources } from './sources.js'

const command = toolCommand({
  name: 'containers-drill',
  does: 'Builds the image of deploy/Dockerfile, from the commit that is checked out and from a release of it, and runs deploy/compose.yaml in a Docker engine of its own: all healthy, a charge, refunds, a restart, a Redis that is killed. Needs Linux with Debian packages, root, git, and the npm registry. Engine and base images are made of Debian packages in .vendor: the images node, postgres and redis of a registry are not used. Changes nothing outside of network and mount namespaces of its own. Exit code 0: all of that worked.',
  takes: 'about five minutes on two cores; the first time two more, because packages are fetched.',
  examples: [['--log drill.log', 'with what the engine prints']]
}).option('--log <file>', 'append what engine, builds and containers print', logFile)
const { options } = readCommandLine<{ readonly log?: string }>(command)
stopOnSignals()

const missing = whatIsMissing()
if (missing.length > 0) {
  process.stdout.write(`NOT RUN: this machine lacks ${missing.join(', ')}.\n`)
  process.exit(1)
}
const root = resolve(import.meta.dirname, '../../..')
const say = (line: string): void => void process.stderr.write(`${line}\n`)
const parts = await obtainParts(vendorDir(root), say)
const place = await temporaryFolder('containers-drill-', vendorDir(root))
say('Making a clone of the commit, and a release ...')
await makeSources(root, place.path)
const code = await runInMachine({ parts, folder: place.path, logFile: options.log })
await place.remove()
process.exit(code)
