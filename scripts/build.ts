/** `npm run build`: bootstrap.mjs has built before, regardless of the age of the files. */
import { readCommandLine, toolCommand } from './command-line/tool.js'

readCommandLine(
  toolCommand({
    name: 'build',
    does: 'Compiles the sources into dist/, and bundles the dependencies and the scripts of the hosted fields. Other commands build when a source is newer.',
    takes: 'some seconds.'
  })
)
process.stdout.write('Built into dist/.\n')
