/** `npm run docs`: writes the generated parts of docs/ and client/. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readCommandLine, toolCommand } from '../command-line/tool.js'
import { generatedPages } from './pages.js'

readCommandLine(
  toolCommand({
    name: 'docs',
    does: 'Writes the generated parts of docs/ and the types of client/ from the code, and prints what has changed. A test fails while they differ.',
    takes: 'some seconds.'
  })
)
const root = resolve(import.meta.dirname, '../../..')
for (const { path, content } of generatedPages()) {
  const file = resolve(root, path)
  if ((await readFile(file, 'utf8').catch(() => null)) === content) continue
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
  process.stdout.write(`${path}\n`)
}
