import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'

const BUNDLED = 'dist/node_modules'
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }

/** What was bundled, as sources import it: `ajv`, `ajv/dist/2020.js`. */
const imports = readdirSync(BUNDLED, { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('/package.json'))
  .flatMap(path => {
    const { name, exports } = JSON.parse(readFileSync(join(BUNDLED, path), 'utf8')) as {
      name: string
      exports: Record<string, string>
    }
    return Object.keys(exports).map(entry => join(name, entry))
  })

describe('bundled dependencies', () => {
  it('are all of package.json but the one with native code', () => {
    const packages = imports.map(name => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    expect([...new Set(packages), 'sodium-native'].sort()).to.deep.equal(Object.keys(manifest.dependencies).sort())
  })

  it('are found from the code in dist/', () => {
    const elsewhere = imports.filter(
      name => !import.meta.resolve(name).startsWith(pathToFileURL(resolve(BUNDLED)).href)
    )
    expect(elsewhere).to.deep.equal([])
  })

  it('export what the packages export', async () => {
    const read = 'async name => [name, Object.entries(await import(name)).map(([key, value]) => [key, typeof value])]'
    const script = `console.log(JSON.stringify(await Promise.all(process.argv.slice(1).map(${read}))))`
    const args = ['--input-type=module', '--eval', script, ...imports]
    const original: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    const bundled = imports.map(async (name): Promise<unknown> => {
      const entries = Object.entries((await import(name)) as object)
      return [name, entries.map(([key, value]) => [key, typeof value])]
    })
    expect(await Promise.all(bundled)).to.deep.equal(original)
  })
})
