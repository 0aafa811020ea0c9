import { expect } from 'chai'
import { batchesOf, selectTestFiles } from './test-files.js'

const files = ['dist/test/api/app.test.js', 'dist/test/redis/accept.test.js', 'dist/test/redis/commit.test.js']

describe('arguments of npm test', () => {
  it('select all files by default', () => {
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
})

describe('batches of test files', () => {
  const texts: Record<string, string> = {
    'dist/test/system/payments/a.test.js': 'const { merchant } = useService()',
    'dist/test/system/payments/b.test.js': 'const { merchant } = useService(QUICK)',
    'dist/test/system/payments/c.test.js': 'const { merchant } = useService()'
  }
  const textOf = (file: string): string => texts[file] ?? ''

  it('have every file once, those that take longest first', () => {
    const [client = '', chaos = ''] = ['dist/test/client/a.test.js', 'dist/test/chaos/chaos.test.js']
    expect(batchesOf([...files, client, chaos], textOf)).to.deep.equal([[chaos], files.slice(1), [files[0]], [client]])
  })

  it('start a service once for the files of a folder that share it', () => {
    const [a, b, c] = Object.keys(texts)
    expect(batchesOf(Object.keys(texts), textOf)).to.deep.equal([[a, c, b]])
  })
})
