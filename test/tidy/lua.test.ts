import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { expect } from 'chai'
import { filesBelow, readSources } from './sources.js'

const LINES_MAX = 80

const scripts = filesBelow('redis', '.lua').map(path => {
  const lines = readFileSync(path, 'utf8').split('\n')
  const headerLength = lines.findIndex(line => !line.startsWith('--'))
  return {
    path,
    lines: lines.length - 1,
    header: lines.slice(0, headerLength).join('\n'),
    body: lines.slice(headerLength).join('\n')
  }
})

describe('Lua scripts', () => {
  // All sources are parsed once.
  it('exist', () => {
    expect(scripts).not.to.have.length(0)
  })

  it('stand beside the module that runs them, or in redis/includes/ when scripts include them', () => {
    const modules = readSources().filter(({ path }) => path.startsWith('redis/'))
    const homes = new Map(
      modules.flatMap(({ path, text }) =>
        [...text.matchAll(/define(?:Named|Batch)?Script(?:<[^(]*>)?\('(\w+)'\)/g)].map(
          ([, name = '']) => [name, dirname(path)] as const
        )
      )
    )
    const lost = scripts.filter(({ path }) => (homes.get(basename(path, '.lua')) ?? 'redis/includes') !== dirname(path))
    expect(lost.map(({ path }) => path)).to.deep.equal([])
  })

  it(`have at most ${LINES_MAX} lines`, () => {
    expect(scripts.filter(({ lines }) => lines > LINES_MAX).map(({ path }) => path)).to.deep.equal([])
  })

  for (const { path, header, body } of scripts) {
    it(`${path} has a header with its purpose, what it gets and its result, and keeps to it`, () => {
      expect(header, 'purpose').to.match(/^-- [A-Z][^\n]{10,}/)
      expect(header, 'result').to.match(/^-- Returns /m)
      expect(body, 'an argument or a key by its position').to.not.match(/\bARGV\b|\bKEYS\[\d|unpack\(KEYS/)
      expect(/\bKEYS\b/.test(body), 'a list of keys').to.equal(header.includes('-- KEYS[1..] '))
      for (const table of ['keys', 'given', 'call']) {
        expect(namesIn(body, table), `${table} used, and in the header`).to.deep.equal(namesIn(header, table))
      }
    })
  }
})

/** The names of `keys.events`, each once. */
function namesIn(text: string, table: string): string[] {
  return [...new Set([...text.matchAll(new RegExp(`\\b${table}\\.(\\w+)`, 'g'))].map(([, name = '']) => name))].sort()
}
