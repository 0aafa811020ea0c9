import { expect } from 'chai'
import { lanesOf, selectTestFiles } from '../../../scripts/testing/test-files.js'

const files = ['dist/test/api/app.test.js', 'dist/test/redis/accept.test.js', 'dist/test/redis/commit.test.js']

describe('arguments of npm test', () => {
  it('select all files when there are none', () => {
    expect(selectTestFiles(files, [])).to.deep.equal(files)
  })

  it('select by any part of the path, as source or as compiled file, each file once', () => {
    expect(selectTestFiles(files, ['redis/accept'])).to.deep.equal([files[1]])
    expect(selectTestFiles(files, ['test/redis/accept.test.ts', 'accept'])).to.deep.equal([files[1]])
    expect(selectTestFiles(files, ['redis'])).to.deep.equal(files.slice(1))
  })

  it('are refused when they select nothing', () => {
    expect(() => selectTestFiles(files, ['redis', 'rdis'])).to.throw(
      'No test file matches rdis. Give a part of the path'
    )
  })

  it('put every file into one of the lanes', () => {
    const system = 'dist/test/system/payments/limits.test.js'
    expect(lanesOf([...files, system])).to.deep.equal([[system], files])
  })
})
