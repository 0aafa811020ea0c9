import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { keyFilesOf } from '../../../runtime/settings/key-files.js'
import { parseProcfile } from '../../../scripts/supervisor/procfile.js'

describe('docs/RUNNING.md', () => {
  it('gives other Procfile runners every key file that a process of the Procfile needs', () => {
    const [, recipe = ''] =
      /## Other Procfile runners.*?```sh\n(.*?)```/s.exec(readFileSync('docs/RUNNING.md', 'utf8')) ?? []
    const needed = parseProcfile(readFileSync('Procfile', 'utf8')).flatMap(({ name }) => keyFilesOf(name))
    expect(needed.length).to.be.greaterThan(3)
    expect(needed.filter(variable => !recipe.includes(`${variable}=`))).to.deep.equal([])
  })
})
