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
        [...text.matchAll(/define(?:Named)?Script(?:<[^(]*>)?\('(\w+)'\)/g)].map(
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
      for (const list of ['KEYS', 'ARGV']) {
        const documented = { single: indexesOf(header, list), from: rangesOf(header, list) }
        const used = { single: [...indexesOf(body, list), ...indexesNamed(body, list)], from: rangesUsed(body, list) }
        const isKnown = (index: number): boolean =>
          documented.single.includes(index) || documented.from.some(first => index >= first)
        expect(
          used.single.filter(index => !isKnown(index)),
          `${list} used and not in the header`
        ).to.deep.equal([])
        expect(without(documented.single, used.single), `${list} in the header and not used`).to.deep.equal([])
        expect(without(documented.from, used.from), `${list}[n..] in the header and not used`).to.deep.equal([])
        expect(without(used.from, documented.from), `${list} from n on used and not in the header`).to.deep.equal([])
      }
      for (const table of ['keys', 'given']) {
        expect(namesIn(body, table), `${table} used, and in the header`).to.deep.equal(namesIn(header, table))
      }
    })
  }
})

/** The names of `keys.events`, each once. */
function namesIn(text: string, table: string): string[] {
  return [...new Set([...text.matchAll(new RegExp(`\\b${table}\\.(\\w+)`, 'g'))].map(([, name = '']) => name))].sort()
}

/** The numbers of `KEYS[1]`. */
function indexesOf(text: string, list: string): number[] {
  return numbersOf(text, new RegExp(`${list}\\[(\\d+)\\]`, 'g'))
}

/** The numbers of `local payment, due = unpack(KEYS)`: as many as there are names. */
function indexesNamed(body: string, list: string): number[] {
  const names = new RegExp(`^local ([\\w, ]+)=\\s+unpack\\(${list}(?:, 1, \\d+)?\\)$`, 'm').exec(body)?.[1]
  return names === undefined ? [] : names.split(',').map((_, index) => index + 1)
}

/** The numbers of `ARGV[4..]`: all from there on. */
function rangesOf(header: string, list: string): number[] {
  return numbersOf(header, new RegExp(`${list}\\[(\\d+)\\.\\.`, 'g'))
}

/** Where a script begins to take a list as a whole: `unpack(ARGV, 4)`, `for i = 4, #ARGV`. */
function rangesUsed(body: string, list: string): number[] {
  return numbersOf(body, new RegExp(`unpack\\(${list}, (\\d+)\\)|for \\w+ = (\\d+), #${list}\\b`, 'g'))
}

function numbersOf(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map(([, first, second]) => Number(first ?? second))
}

function without(numbers: readonly number[], others: readonly number[]): number[] {
  return numbers.filter(number => !others.includes(number))
}
