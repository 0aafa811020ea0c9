import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

const run = promisify(execFile)

/** The code of a page between fences of `ts`, `js` or `mjs`, each with the page and its number there. */
function samplesOf(page: string, text: string): { name: string; code: string }[] {
  const found = [...text.matchAll(/^```(?:ts|js|mjs|typescript|javascript)\b.*\n([\s\S]*?)^```/gm)]
  return found.map(([, code = ''], at) => ({ name: `${page.replace(/\W/g, '-')}-${at}.mts`, code }))
}

describe('the samples in the docs', () => {
  it('compile in strict TypeScript, as a merchant would paste them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'samples-'))
    try {
      await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
      const pages = ['client/README.md', 'README.md', ...(await readdir('docs')).map(name => `docs/${name}`)]
      let count = 0
      for (const page of pages.filter(name => name.endsWith('.md'))) {
        for (const { name, code } of samplesOf(page, await readFile(page, 'utf8'))) {
          await writeFile(join(folder, name), code)
          count++
        }
      }
      expect(count).to.be.at.least(2)
      const signature = 'client/samples/check-signature/signature.mts'
      await writeFile(join(folder, 'signature.mts'), await readFile(signature, 'utf8'))
      const compilerOptions = {
        ...{ strict: true, noEmit: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
        ...{ module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'], moduleDetection: 'force' },
        paths: { '@card-payments/client': [join(process.cwd(), 'dist/client/index.d.ts')] }
      }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }))
      const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc')
      const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch(error => error)
      expect(stdout).to.equal('')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
