import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { filesBelow } from './sources.js'

const LINES_MAX = 80

const scripts = filesBelow('redis/lua', '.lua').map(path => {
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
  it('exist', () => {
    expect(scripts).not.to.have.length(0)
  })

  it(`have at most ${LINES_MAX} lines`, () => {
    expect(scripts.filter(({ lines }) => lines > LINES_MAX).map(({ path }) => path)).to.deep.equal([])
  })

  for (const { path, header, body } of scripts) {
    it(`${path} has a header with its purpose, KEYS, ARGV and result, and keeps to it`, () => {
      expect(header, 'purpose').to.match(/^-- [A-Z][^\n]{10,}/)
      expect(header, 'result').to.match(/^-- Returns /m)
      for (const list of ['KEYS', 'ARGV']) {
        const documented = documentedIndexes(header, list)
        for (const index of usedIndexes(body, list)) {
          expect(documented.isCovered(index), `${list}[${index}] is used and not in the header`).to.equal(true)
        }
        for (const index of documented.single) {
          expect(isUsed(body, list, index), `${list}[${index}] is in the header and not used`).to.equal(true)
        }
      }
    })
  }
})

/** `KEYS[1]` is one index, `ARGV[4..]` all from 4 on. */
function documentedIndexes(header: string, list: string): { single: number[]; isCovered: (index: number) => boolean } {
  const single = [...header.matchAll(new RegExp(`${list}\\[(\\d+)\\]`, 'g'))].map(match => Number(match[1]))
  const ranges = [...header.matchAll(new RegExp(`${list}\\[(\\d+)\\.\\.`, 'g'))].map(match => Number(match[1]))
  return { single, isCovered: index => single.includes(index) || ranges.some(first => index >= first) }
}

function usedIndexes(body: string, list: string): number[] {
  return [...body.matchAll(new RegExp(`${list}\\[(\\d+)\\]`, 'g'))].map(match => Number(match[1]))
}

/** By its number, or as part of the whole list (`unpack(ARGV, 4)`, `#KEYS`, `ARGV[i]`). */
function isUsed(body: string, list: string, index: number): boolean {
  return usedIndexes(body, list).includes(index) || new RegExp(`unpack\\(${list}|#${list}|${list}\\[[a-z]`).test(body)
}
