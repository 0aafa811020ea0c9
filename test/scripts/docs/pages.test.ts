import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type ErrorSpec, errorCatalogue } from '../../../contract/errors.js'
import { declineReasons } from '../../../machines/declines.js'
import { generatedPages } from '../../../scripts/docs/pages.js'

/** Licences that only require to keep their text. PSF-2.0 and Python-2.0 belong to development packages. */
const PERMISSIVE =
  /^\(?(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|CC0-1\.0|PSF-2\.0|Python-2\.0)( OR .*)?$/

/** Asks for the source of changed files: harmless for tools that are neither changed nor shipped. */
const UNCHANGED = 'MPL-2.0'

interface LockFile {
  readonly packages: Readonly<Record<string, { version?: string; license?: string; dev?: boolean }>>
}

describe('generated documentation', () => {
  const pages = generatedPages()

  it('is what the code says now (else: npm run docs)', () => {
    const stale = pages.filter(({ path, content }) => readFileSync(path, 'utf8') !== content)
    expect(stale.map(({ path }) => path)).to.deep.equal([])
  })

  it('shows the code that merchants see, not the name of the row', () => {
    const errors = pages.find(page => page.path.endsWith('ERRORS.md'))?.content
    expect(errors).to.contain('`invalid_state`').and.not.to.contain('`operation_in_progress`')
  })

  it('docs/API.md says of every error where it may come', () => {
    const page = readFileSync('docs/API.md', 'utf8')
    const rows: [string, ErrorSpec][] = Object.entries(errorCatalogue)
    const codes = rows.map(([name, { publicCode }]) => publicCode ?? name)
    expect(codes.filter(code => !page.includes(`\`${code}\``))).to.deep.equal([])
  })

  it('docs/DECLINES.md advises on every reason, in their order', () => {
    const [advice = ''] = readFileSync('docs/DECLINES.md', 'utf8').split('## Sentences')
    const reasons = [...advice.matchAll(/^\| `(\w+)` \| .{5,} \|$/gm)].map(([, reason]) => reason)
    expect(reasons.filter(reason => reason !== 'decline_reason')).to.deep.equal(declineReasons)
  })
})

describe('the licences of the packages', () => {
  it('are permissive for every package that is shipped', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile
    // Our own packages have no version in the lock file.
    const locked = Object.entries(packages).filter(([path, { version }]) => path !== '' && version !== undefined)
    const others = locked.filter(
      ([, { license = 'unknown', dev }]) => !PERMISSIVE.test(license) && !(dev === true && license === UNCHANGED)
    )
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).to.deep.equal([])
    expect(locked.length).to.be.greaterThan(100)
  })
})
