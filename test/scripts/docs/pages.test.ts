import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { declineReasons } from '../../../machines/declines.js'
import { type ErrorSpec, errorCatalogue } from '../../../runtime/errors.js'
import { lockedPackages } from '../../../scripts/docs/licences.js'
import { generatedPages } from '../../../scripts/docs/pages.js'

/** Licences that ask for no more than their text to be kept. PSF-2.0 and Python-2.0 came with packages for developing. */
const PERMISSIVE =
  /^\(?(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|CC0-1\.0|PSF-2\.0|Python-2\.0)( OR .*)?$/

/** Asks for the source of changed files: nothing of tools that are used as they are, and not shipped. */
const UNCHANGED = 'MPL-2.0'

describe('generated documentation', () => {
  for (const { path, content } of generatedPages()) {
    it(`${path} says what the code says (else: npm run docs)`, () => {
      expect(readFileSync(path, 'utf8')).to.equal(content)
    })
  }

  it('shows the code that merchants see, not the name of the row', () => {
    const errors = generatedPages().find(page => page.path.endsWith('ERRORS.md'))?.content
    expect(errors).to.contain('`invalid_state`').and.not.to.contain('`operation_in_progress`')
  })

  it('docs/API.md says of every error where it may come', () => {
    const page = readFileSync('docs/API.md', 'utf8')
    const rows: [string, ErrorSpec][] = Object.entries(errorCatalogue)
    const codes = rows.map(([name, { publicCode }]) => publicCode ?? name)
    expect(codes.filter(code => !page.includes(`\`${code}\``))).to.deep.equal([])
  })

  it('docs/DECLINES.md advises on every reason, in their order', () => {
    const [advice = ''] = readFileSync('docs/DECLINES.md', 'utf8').split('## Codes')
    const reasons = [...advice.matchAll(/^\| `(\w+)` \| .{5,} \|$/gm)].map(([, reason]) => reason)
    expect(reasons.filter(reason => reason !== 'decline_reason')).to.deep.equal(declineReasons)
  })

  it('names no package that is shipped, and whose licence asks for more than to be kept', () => {
    const others = lockedPackages().filter(
      ({ licence, isDevelopment }) => !PERMISSIVE.test(licence) && !(isDevelopment && licence === UNCHANGED)
    )
    expect(others).to.deep.equal([])
    expect(lockedPackages().length).to.be.greaterThan(100)
  })
})
