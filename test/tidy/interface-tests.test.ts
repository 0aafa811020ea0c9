import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type ErrorSpec, errorCatalogue } from '../../runtime/errors.js'

const PAGE = 'docs/INTERFACE_TESTS.md'
const SECTIONS = [
  ...['4.1', '4.2', '4.3', '4.4', '4.5', '4.6', '4.7', '4.8', '4.9'],
  ...['5', '5.1', '6', '7', '7.1', '8']
]

const page = readFileSync(PAGE, 'utf8')
const rows = page.split('\n').filter(line => line.startsWith('| ') && !/^\| (Row|---) /.test(line))

/** A cited test: its file without `test/` and `.test.ts`, and its title, in which `…` stands for any text. */
interface Citation {
  readonly file: string
  readonly title: string
}

const citations: readonly Citation[] = rows.flatMap(row => {
  const tests = row.split(' | ')[1]?.replace(/ \|$/, '') ?? ''
  return tests.split('<br>').map(text => {
    const [, file = '', title = ''] = /^`(.+?)` (.+)$/.exec(text) ?? []
    return { file, title }
  })
})

describe('the table of interface rows and their tests', function () {
  this.timeout(20_000)

  it('has every section, and a test for every row', () => {
    const sections = [...page.matchAll(/^## (\S+) /gm)].map(([, section]) => section)
    expect(sections).to.deep.equal(SECTIONS)
    expect(rows.length).to.be.greaterThan(80)
    expect(citations.filter(({ file, title }) => file === '' || title === '')).to.deep.equal([])
  })

  it('has a row for every error code that merchants see', () => {
    const specs: [string, ErrorSpec][] = Object.entries(errorCatalogue)
    const codes = specs.map(([name, { status, publicCode }]) => `${status} \`${publicCode ?? name}\``)
    expect(codes.filter(code => !rows.some(row => row.startsWith(`| ${code}`)))).to.deep.equal([])
  })

  it('names tests that exist', () => {
    const titles = titlesIn([...new Set(citations.map(({ file }) => file))])
    const lost = citations.filter(({ file, title }) => !titles.get(file)?.some(one => patternOf(title).test(one)))
    expect(lost).to.deep.equal([])
  })
})

function patternOf(title: string): RegExp {
  const parts = title.split('…').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`)
}

/** Titles by file, as mocha knows them: it loads the files and runs nothing. */
function titlesIn(files: readonly string[]): Map<string, string[]> {
  const paths = files.map(file => `dist/test/${file}.test.js`)
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--dry-run', '--reporter', 'json', ...paths]
  const report = JSON.parse(execFileSync(process.execPath, mocha, { encoding: 'utf8', maxBuffer: 1e8 }))
  const tests = report.tests as readonly { file: string; title: string }[]
  const titles = new Map<string, string[]>(files.map(file => [file, []]))
  for (const { file, title } of tests) {
    const name = file.replaceAll('\\', '/').replace(/^.*\/dist\/test\//, '')
    titles.get(name.replace(/\.test\.js$/, ''))?.push(title)
  }
  return titles
}
