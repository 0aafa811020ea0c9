import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { paymentStatuses } from '../../machines/model.js'
import { selectTestFiles } from '../runner/test-files.js'
import { filesBelow, readSources } from './sources.js'

/** A file in a folder of ours, or a folder: `redis/keys.ts`, `runtime/settings/`. */
const CITED =
  /(?<![\w./-])(?:api|workers|machines|redis|vault|runtime|client|scripts|test|docs|ops)\/(?:[\w.-]+\/)*(?:[\w.-]+\.(?:ts|lua|mjs|js|md|yml|json|acl))?(?![\w*])/g
/** A link of Markdown to a file of ours, or a heading of the page. */
const LINK = /\]\(([^)\s#:]*)(?:#([\w-]+))?\)/g
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g

const pages = filesBelow('docs', '.md').map(path => ({ path, text: readFileSync(path, 'utf8') }))
const comments = readSources().map(({ path, text }) => ({ path, text: (text.match(COMMENT) ?? []).join('\n') }))
const scripts = filesBelow('redis', '.lua').map(path => ({ path, text: readFileSync(path, 'utf8') }))
/** docs/SECURITY.md leaves the first folder of tests out. */
const isThere = (file: string): boolean => existsSync(file) || existsSync(`test/${file}`)

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase())
  return new Set(headings.map(heading => heading.replace(/[^\w -]/g, '').replaceAll(' ', '-')))
}

describe('files that comments and docs name', () => {
  it('exist', () => {
    const cited = [...pages, ...comments, ...scripts].flatMap(({ path, text }) =>
      (text.match(CITED) ?? []).map(file => ({ path, file }))
    )
    expect(cited.length).to.be.greaterThan(150)
    expect(cited.filter(({ file }) => !isThere(file)).map(({ path, file }) => `${path}: ${file}`)).to.deep.equal([])
  })

  it('have the headings that comments name', () => {
    const cited = comments.flatMap(({ path, text }) =>
      [...text.matchAll(/\b(docs\/\w+\.md)#([\w-]+)/g)].map(([, page = '', anchor = '']) => ({ path, page, anchor }))
    )
    const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]))
    expect(cited.length).to.be.greaterThan(30)
    expect(cited.filter(({ page, anchor }) => !anchors.get(page)?.has(anchor))).to.deep.equal([])
  })
})

describe('links of pages', () => {
  it('lead to files and headings that exist', () => {
    const others = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'client/README.md']
    const read = (path: string): string => readFileSync(path, 'utf8')
    const links = [...pages, ...others.map(path => ({ path, text: read(path) }))].flatMap(({ path, text }) =>
      [...text.matchAll(LINK)].map(([link, to = '', anchor]) => ({
        from: `${path}: ${link}`,
        to: to === '' ? path : join(dirname(path), to),
        anchor
      }))
    )
    expect(links.length).to.be.greaterThan(150)
    const broken = links.filter(
      ({ to, anchor }) => !existsSync(to) || (anchor !== undefined && !anchorsOf(read(to)).has(anchor))
    )
    expect(broken.map(({ from }) => from)).to.deep.equal([])
  })
})

describe('docs/CHANGING.md', () => {
  const page = readFileSync('docs/CHANGING.md', 'utf8')

  it('says of every change which tests tell that it is complete, and there are such tests', () => {
    const commands = [...page.matchAll(/`npm test ([^`.]+)`/g)].map(([, words = '']) => words.split(' '))
    const sections = page.split(/^## /m).slice(1)
    expect(sections.filter(section => !section.includes('`npm test '))).to.deep.equal([])
    const files = filesBelow('test', '.test.ts')
    for (const words of commands) expect(selectTestFiles(files, words), words.join(' ')).not.to.be.empty
  })
})

describe('docs/PAYMENTS.md', () => {
  it('says what each status means', () => {
    const [, section = ''] =
      /## What each status means\n(.*?)\n## /s.exec(readFileSync('docs/PAYMENTS.md', 'utf8')) ?? []
    const rows = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, status]) => status)
    expect(rows.sort()).to.deep.equal([...paymentStatuses].sort())
  })
})
