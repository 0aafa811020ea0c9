import { expect } from 'chai'
import { prefixedOutput } from '../../../scripts/start/output.js'

function collect(isColoured: boolean): { sinkOf: ReturnType<typeof prefixedOutput>; written: string[] } {
  const written: string[] = []
  return { sinkOf: prefixedOutput(['api.1', 'payments.1'], isColoured, text => written.push(text)), written }
}

describe('output of npm start', () => {
  it('puts the name of its process in front of each line, in one column', () => {
    const { sinkOf, written } = collect(false)
    sinkOf('api.1')('one\ntwo\n')
    sinkOf('payments.1')('three\n')
    expect(written.join('')).to.equal('api.1      | one\napi.1      | two\npayments.1 | three\n')
  })

  it('writes whole lines only, for any pieces that they come in', () => {
    const { sinkOf, written } = collect(false)
    const api = sinkOf('api.1')
    api('be')
    sinkOf('payments.1')('between\n')
    api('gun\nnext')
    expect(written).to.deep.equal(['payments.1 | between\n', 'api.1      | begun\n'])
  })

  it('colours the names for terminals only', () => {
    const [plain, coloured] = [collect(false), collect(true)]
    for (const { sinkOf } of [plain, coloured]) sinkOf('api.1')('line\n')
    expect(plain.written.join('')).not.to.contain('\u001b[')
    expect(coloured.written.join('')).to.contain('\u001b[')
  })
})
