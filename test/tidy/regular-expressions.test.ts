import { readFileSync } from 'node:fs'
import { parse } from '@babel/parser'
import { expect } from 'chai'
import { analyse } from 'scslre'
import { filesBelow } from './sources.js'

/** Everything that meets the input of strangers; operators' scripts read what operators write. */
const FOLDERS = [
  'api',
  'workers',
  'machines',
  'contract',
  'redis',
  'vault',
  'runtime',
  'client',
  'scripts/simulator',
  'scripts/shop',
  'scripts/webhooks-listen'
]

const literals = FOLDERS.flatMap(folder => filesBelow(folder, '.ts')).flatMap(path =>
  literalsIn(path, readFileSync(path, 'utf8'))
)

describe('regular expressions', () => {
  it('need time in proportion to their input, for every input', () => {
    expect(literals.length).to.be.greaterThan(40)
    const slow = literals.filter(({ expression }) => isSlow(expression))
    expect(slow.map(({ place, expression }) => `${place} ${expression}`)).to.deep.equal([])
  })
})

function isSlow(expression: RegExp): boolean {
  return analyse(expression).reports.length > 0
}

function literalsIn(path: string, text: string): { place: string; expression: RegExp }[] {
  const { tokens } = parse(text, { sourceType: 'module', plugins: ['typescript'], tokens: true })
  return (tokens ?? []).flatMap(token => {
    const { value, loc } = token as { value: unknown; loc: { start: { line: number } } }
    if (typeof value !== 'object' || value === null || !('pattern' in value) || !('flags' in value)) return []
    const expression = new RegExp(String(value.pattern), String(value.flags))
    return [{ place: `${path}:${loc.start.line}`, expression }]
  })
}
