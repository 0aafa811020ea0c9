/** `npm run package`: makes the folder that is deployed, and its tarball. */
import { resolve } from 'node:path'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { makeRelease } from './release.js'

const command = toolCommand({
  name: 'package',
  does: 'Makes a release that needs Node and nothing else: a folder with all processes and `bin/operator`, its tarball, and the checksum of the tarball. The version is the tag of the commit, or the version of package.json with the commit.',
  takes: 'some seconds.',
  examples: [['--out /tmp/release', 'into another folder']]
}).option(
  '--out <folder>',
  'where the folder and the tarball are made; what is there of the same version is replaced',
  'release'
)
const { options } = readCommandLine<{ readonly out: string }>(command)

const { folder, tarball, fileCount, sizeBytes } = await makeRelease({
  root: resolve(import.meta.dirname, '../../..'),
  outDir: resolve(options.out)
})
process.stdout.write(
  `${folder}\n  ${fileCount} files, ${(sizeBytes / 1_000_000).toFixed(1)} MB. SHA256SUMS has the hash of each, sbom.cdx.json their packages.\n${tarball}\n  Check it with \`sha256sum -c\` and the file beside it; deploy it as docs/DEPLOYING.md says.\n`
)
