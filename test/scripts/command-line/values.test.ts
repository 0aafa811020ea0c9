import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { folder, listOf, oneOf, port, wholeNumber } from '../../../scripts/command-line/values.js'
import { decimalNumber, logFile } from '../../support/option-values.js'

describe('values of options', () => {
  it('are numbers within their bounds, which the error names', () => {
    expect(wholeNumber(1, 1_000)('1000')).to.equal(1_000)
    for (const text of ['', 'many', '0', '-1', '1.5', '1e3', '1001', ' 5', '0x10']) {
      expect(() => wholeNumber(1, 1_000)(text), text).to.throw('Give a whole number from 1 to 1000.')
    }
    expect(() => wholeNumber(1)('0')).to.throw('Give a whole number of at least 1.')
    expect(decimalNumber(0.01, 100)('0.5')).to.equal(0.5)
    for (const text of ['', '0', '.5', '101', 'NaN', 'Infinity']) {
      expect(() => decimalNumber(0.01, 100)(text), text).to.throw('Give a number from 0.01 to 100.')
    }
    expect(port('0')).to.equal(0)
    expect(() => port('65536')).to.throw('Give a whole number from 0 to 65535.')
  })

  it('are lists with commas; the error names the invalid part', () => {
    expect(listOf(decimalNumber(0, 100))('0.5,1,2')).to.deep.equal([0.5, 1, 2])
    expect(() => listOf(wholeNumber(1))('1000,x')).to.throw('"x" is wrong. Give a whole number of at least 1.')
    expect(() => listOf(wholeNumber(1))('1,,2')).to.throw('"" is wrong. ')
  })

  it('are one of some names', () => {
    expect(oneOf(['red', 'blue'])('blue')).to.equal('blue')
    expect(() => oneOf(['red', 'blue'])('green')).to.throw('Known: red, blue.')
    expect(() => oneOf(['red', 'blue'])('constructor')).to.throw('Known: red, blue.')
  })

  it('are existing folders, and writable files', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'payments-values-'))
    try {
      expect(folder(dir)).to.equal(dir)
      expect(() => folder(join(dir, 'none'))).to.throw('There is no such folder.')
      const log = join(dir, 'log')
      expect(logFile(log)).to.equal(log)
      expect(existsSync(log)).to.equal(true)
      expect(() => logFile(join(dir, 'none', 'log'))).to.throw('It cannot be written: ENOENT')
    } finally {
      await rm(dir, { recursive: true })
    }
  })
})
