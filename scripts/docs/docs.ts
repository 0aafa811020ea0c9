/** `npm run docs`: writes the generated parts of docs/ and client/. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { generatedPages } from './pages.js'

readCommandLine(
  toolCommand({
    name: 'docs',
    does: 'Writes the generated parts of docs/ and the types of client/ from the code. A test fails while they differ.',
    takes: 'some seconds.'
  })
)
const root = resolve(import.meta.dirname, '../../..')
for (const { path, content } of generatedPages()) {
  await mkdir(dirname(resolve(root, path)), { recursive: true })
  await writeFile(resolve(root, path), content)
  process.stdout.write(`${path}\n`)
}
