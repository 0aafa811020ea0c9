/** `npm run diagrams`: writes docs/machines/*.svg, docs/MACHINES.md and docs/TRANSITIONS.md from the machines. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { machinePages } from './diagrams/chart-pages.js'

readCommandLine(
  toolCommand({
    name: 'diagrams',
    does: 'Writes docs/machines/*.svg, docs/MACHINES.md and docs/TRANSITIONS.md from the machines. A test fails while they differ.',
    takes: 'some seconds.'
  })
)
const root = resolve(import.meta.dirname, '../../..')
for (const { path, content } of await machinePages()) {
  await mkdir(dirname(resolve(root, path)), { recursive: true })
  await writeFile(resolve(root, path), content)
  process.stdout.write(`${path}\n`)
}
