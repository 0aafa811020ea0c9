import { expect } from 'chai'
import { versionOf } from '../../../scripts/package/release.js'

describe('the version of a release', () => {
  for (const [described, version] of [
    ['v1.2.0', '1.2.0'],
    ['v1.2.0-dirty', '1.2.0-dirty'],
    ['v1.2.0-3-g660e873b9690', '1.2.0-3-g660e873b9690'],
    ['660e873b9690', '0.1.0-g660e873b9690'],
    ['660e873b9690-dirty', '0.1.0-g660e873b9690-dirty']
  ] as const) {
    it(`is ${version} where git describes ${described}`, () => {
      expect(versionOf(described, '0.1.0')).to.equal(version)
    })
  }
})
