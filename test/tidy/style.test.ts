import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { readSources } from './sources.js'

const sources = readSources()
const isTest = (path: string): boolean => path.startsWith('test/')
describe('style', () => {
  it('gives files honest names', () => {
    const empty = /(^|\/)(utils?|helpers?|common|shared|misc|lib|manager)(\/|\.|$)/i
    expect(sources.map(({ path }) => path).filter(path => empty.test(path))).to.deep.equal([])
  })

  it('mirrors the sources: a test file stands in the folder of the same name', () => {
    const free = /^test\/(system|support|tidy|chaos|clients-drill|containers-drill|live-drill|runner|simulation)\//
    const lost = sources
      .map(({ path }) => path)
      .filter(path => isTest(path) && !free.test(path) && !existsSync(folderBehind(path)))
    expect(lost).to.deep.equal([])
  })
})

describe('names', () => {
  it('mean one thing: the product exports no name from two files', () => {
    const product = /^(api|workers|machines|contract|redis|archive|vault|runtime)\//
    const places = new Map<string, string[]>()
    for (const { path, text } of sources.filter(({ path }) => product.test(path))) {
      const names = text.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)
      for (const [, name = ''] of names) places.set(name, [...(places.get(name) ?? []), path])
    }
    expect([...places].filter(([, paths]) => paths.length > 1)).to.deep.equal([])
  })
})

describe('texts of the project', () => {
  const texts = textFiles().map(path => ({ path, text: readFileSync(path, 'utf8') }))
  const linesWith = (pattern: RegExp): string[] =>
    texts.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : []))
    )

  it('do not call URL.canParse, which Node 20 and 22 compile into one that denies letters beyond ASCII', () => {
    expect(linesWith(/URL\.canParse\(/).filter(line => !line.startsWith('test/tidy/'))).to.deep.equal([])
  })

  it('leave nothing for later', () => {
    // Put together here, so that this file does not contain them.
    expect(
      linesWith(
        new RegExp(`\\b(${['TO', 'FIX'].map(start => `${start}${start === 'TO' ? 'DO' : 'ME'}`).join('|')}|X{3})\\b`)
      )
    ).to.deep.equal([])
  })

  it('name no host of packages: every installation has its own', () => {
    expect(linesWith(/\b(registry|deb|archive|packages|pypi)\.[a-z0-9-]+\.(org|com|net|io)\b/i)).to.deep.equal([])
    expect(readFileSync('package-lock.json', 'utf8')).not.to.contain('"resolved"')
  })

  it('cite nothing that a reader does not have', () => {
    // Papers that the service was built from. docs/DESIGN.md says what may be cited by number, and how.
    const papers = /\bdesign (section )?\d|\binterface (sections? )?\d|\bstack[ -]facts|\bnetwork[ -]protocol\b/i
    expect(linesWith(papers)).to.deep.equal([])
  })

  it('name the actor (worker, operator, merchant …) and use the term of the field (redelivered …)', () => {
    const vague = /(no|some|any)body|(who|whom|what)ever|found\sagain|handed\sout|books\srule/i
    expect(linesWith(vague)).to.deep.equal([])
  })

  it('name no folder of the machine that they were written on', () => {
    const [, first, second] = process.cwd().split('/')
    const own = `/${first}/${second ?? ''}`
    expect(texts.filter(({ text }) => second && text.includes(own)).map(({ path }) => path)).to.deep.equal([])
  })
})

function folderBehind(path: string): string {
  return path.replace(/^test\//, '').replace(/\/[^/]+$/, '')
}

/** Everything that people read or write; nothing that a tool makes. */
function textFiles(): string[] {
  const made = /(^|\/)(node_modules|dist|\.git|\.data|\.vendor|package-lock\.json)(\/|$)/
  const walk = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
      const path = join(folder, entry.name)
      if (made.test(path)) return []
      return entry.isDirectory() ? walk(path) : [path]
    })
  return walk('.').filter(path => /\.(ts|mjs|js|json|md|lua|yaml|yml|html|css)$|Procfile$|\.ci\/run$/.test(path))
}
