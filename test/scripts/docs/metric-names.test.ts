import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'

const namesIn = (file: string): string[] =>
  readFileSync(file, 'utf8').match(/\bcard_payments_[a-z_]*[a-z]\b(?!\*)/g) ?? []
const isMetric = (name: string): boolean => !/^card_payments_(client|redis)$/.test(name)
const base = (name: string): string => name.replace(/_(bucket|sum|count)$/, '')

describe('names of metrics', () => {
  it('are those of METRICS.md, in all pages and monitoring files', () => {
    const files = execFileSync('git', ['ls-files', 'docs/*.md', 'README.md', 'ops', 'deploy'], { encoding: 'utf8' })
    const known = new Set(namesIn('docs/METRICS.md'))
    const used = files
      .trim()
      .split('\n')
      .filter(file => /\.(md|ya?ml|json)$/.test(file))
      .flatMap(file =>
        namesIn(file)
          .filter(isMetric)
          .map(name => ({ file, name }))
      )
    expect(used.length).to.be.greaterThan(50)
    expect(used.filter(({ name }) => !known.has(name) && !known.has(base(name)))).to.deep.equal([])
  })
})
