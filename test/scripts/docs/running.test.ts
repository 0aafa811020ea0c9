import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { keyFilesOf } from '../../../runtime/config.js'
import { parseProcfile } from '../../../scripts/start/procfile.js'

const processes = parseProcfile(readFileSync('Procfile', 'utf8')).map(({ name }) => name)

describe('README.md', () => {
  it('describes every process of the Procfile, and no other', () => {
    const rows = [...readFileSync('README.md', 'utf8').matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name)
    expect(rows).to.deep.equal(processes)
  })
})

describe('docs/RUNNING.md', () => {
  it('gives other Procfile runners every key file that a process of the Procfile needs', () => {
    const [, recipe = ''] =
      /## Other Procfile runners.*?```sh\n(.*?)```/s.exec(readFileSync('docs/RUNNING.md', 'utf8')) ?? []
    const needed = processes.flatMap(keyFilesOf)
    expect(needed.length).to.be.greaterThan(3)
    expect(needed.filter(variable => !recipe.includes(`${variable}=`))).to.deep.equal([])
  })
})
