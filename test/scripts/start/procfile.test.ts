import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parseProcfile, planInstances } from '../../../scripts/start/procfile.js'

const entries = parseProcfile('api: exec node api.js\npayments: exec node payments.js --a=b:c\n\n# a remark\n')
const plan = (...scale: string[]): string[] =>
  planInstances(entries, scale).map(({ name, instance }) => `${name}.${instance}`)

describe('Procfile', () => {
  it('reads one process a line, and ignores empty lines and comments', () => {
    expect(entries).to.deep.equal([
      { name: 'api', command: 'exec node api.js' },
      { name: 'payments', command: 'exec node payments.js --a=b:c' }
    ])
  })

  it('names every bad line at once', () => {
    expect(() => parseProcfile('api exec node\na: x\na: y\nb:\n')).to.throw(/line 1 [\s\S]*line 3 [\s\S]*line 4 /)
  })

  it('of this project replaces the shell in each line, so that signals reach the process', () => {
    for (const { command } of parseProcfile(readFileSync('Procfile', 'utf8'))) expect(command).to.match(/^exec node /)
  })

  it('runs one of each process by default, and as many as the arguments say', () => {
    expect(plan()).to.deep.equal(['api.1', 'payments.1'])
    expect(plan('payments=3', 'api=0')).to.deep.equal(['payments.1', 'payments.2', 'payments.3'])
  })

  it('refuses all invalid arguments at once', () => {
    expect(() => plan('payments', 'unknown=2', 'api=65', 'api=-1')).to.throw(
      /payments: [\s\S]*unknown=2: the Procfile has api, payments[\s\S]*api=65: at most 64[\s\S]*api=-1: /
    )
  })

  it('runs at most one simulator, because it has one ledger', () => {
    expect(() => planInstances(parseProcfile('network: x'), ['network=2'])).to.throw(/one ledger/)
  })
})
