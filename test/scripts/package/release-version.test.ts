import { expect } from 'chai'
import { versionOf } from '../../../scripts/package/release.js'

/** In the order of the commits. */
const VERSIONS = [
  ['660e873b9690', 9, '0.1.0-9.g660e873b9690'],
  ['0a0e873b9690', 10, '0.1.0-10.g0a0e873b9690'],
  ['0a0e873b9690-dirty', 10, '0.1.0-10.g0a0e873b9690.dirty'],
  ['v0.1.0', 11, '0.1.0'],
  ['v1.2.0', 12, '1.2.0'],
  ['v1.2.0-dirty', 12, '1.2.1-0.dirty'],
  ['v1.2.0-3-g960e873b9690', 15, '1.2.1-3.g960e873b9690'],
  ['v1.2.0-12-g160e873b9690', 24, '1.2.1-12.g160e873b9690'],
  ['v1.3.0-rc.1', 25, '1.3.0-rc.1'],
  ['v1.3.0-rc.1-2-g260e873b9690', 27, '1.3.0-rc.1.2.g260e873b9690'],
  ['v1.3.0', 28, '1.3.0']
] as const

describe('the version of a release', () => {
  for (const [described, commits, version] of VERSIONS) {
    it(`is ${version} where git describes ${described}`, () => {
      expect(versionOf(described, '0.1.0', commits)).to.equal(version)
    })
  }

  it('has an order: a later commit has a later version', () => {
    const versions = VERSIONS.map(([, , version]) => version)
    expect([...versions].reverse().sort(precedence)).to.deep.equal(versions)
  })
})

/** The rule of semver.org, 11. */
function precedence(a: string, b: string): number {
  const [parts, others] = [partsOf(a), partsOf(b)]
  const numbers = parts.numbers.map((part, index) => Number(part) - Number(others.numbers[index])).find(it => it !== 0)
  if (numbers !== undefined) return numbers
  if (parts.before.length * others.before.length === 0) return others.before.length - parts.before.length
  for (const [index, part] of parts.before.entries()) {
    const other = others.before[index]
    if (other === undefined) return 1
    const [isNumber, isOtherNumber] = [/^\d+$/.test(part), /^\d+$/.test(other)]
    if (isNumber && isOtherNumber && part !== other) return Number(part) - Number(other)
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
    if (part !== other) return part < other ? -1 : 1
  }
  return parts.before.length - others.before.length
}

function partsOf(version: string): { numbers: string[]; before: string[] } {
  const [, numbers = '', before = ''] = /^([\d.]+)(?:-(.*))?$/.exec(version) ?? []
  return { numbers: numbers.split('.'), before: before === '' ? [] : before.split('.') }
}
