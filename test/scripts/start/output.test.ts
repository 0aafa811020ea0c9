import { expect } from 'chai'
import { type OutputOptions, prefixedOutput } from '../../../scripts/start/output.js'

function collect(options: OutputOptions): { sinkOf: ReturnType<typeof prefixedOutput>; written: string[] } {
  const written: string[] = []
  return { sinkOf: prefixedOutput(['api.1', 'payments.1'], options, text => written.push(text)), written }
}

describe('output of npm start', () => {
  it('puts the name of its process in front of each line, in one column', () => {
    const { sinkOf, written } = collect({ isColoured: false })
    sinkOf('api.1')('one\ntwo\n')
    sinkOf('payments.1')('three\n')
    expect(written.join('')).to.equal('api.1      | one\napi.1      | two\npayments.1 | three\n')
  })

  it('writes whole lines, for pieces of any size', () => {
    const { sinkOf, written } = collect({ isColoured: false })
    const api = sinkOf('api.1')
    api('be')
    sinkOf('payments.1')('between\n')
    api('gun\nnext')
    expect(written).to.deep.equal(['payments.1 | between\n', 'api.1      | begun\n'])
  })

  it('colours the names for terminals only', () => {
    const [plain, coloured] = [collect({ isColoured: false }), collect({ isColoured: true })]
    for (const { sinkOf } of [plain, coloured]) sinkOf('api.1')('line\n')
    expect(plain.written.join('')).not.to.contain('\u001b[')
    expect(coloured.written.join('')).to.contain('\u001b[')
  })

  it('prints lines of a log for people on a terminal, a request as one sentence, and leaves other lines', () => {
    const { sinkOf, written } = collect({ isColoured: false, isReadable: true })
    const line = (fields: object): string => `${JSON.stringify({ level: 'info', pid: 1, process: 'api', ...fields })}\n`
    const request = { method: 'POST', route: '/v1/payments/:id/refund', duration_ms: 12, payment_id: 'a-payment' }
    const api = sinkOf('api.1')
    api(line({ ...request, status: 202, request_id: 'r', msg: 'request answered' }))
    api(line({ ...request, status: 409, code: 'operation_in_progress', msg: 'request answered' }))
    api(line({ port: 3000, msg: 'listening' }))
    api('A sentence.\n')
    expect(written).to.deep.equal([
      'api.1      | INFO: POST /v1/payments/:id/refund 202, 12 ms, payment a-payment\n',
      'api.1      | INFO: POST /v1/payments/:id/refund 409 operation_in_progress, 12 ms, payment a-payment\n',
      'api.1      | INFO: listening {"port":3000}\n',
      'api.1      | A sentence.\n'
    ])
  })
})
