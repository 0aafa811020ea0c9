import { expect } from 'chai'
import { type Finding, problem } from '../../../scripts/operator/doctor/finding.js'
import { checkProcesses } from '../../../scripts/operator/doctor/process-checks.js'
import type { SeenProcess } from '../../../scripts/operator/processes.js'

const NEEDED = ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks']

function seen(process: string, facts: Readonly<Record<string, string>> = {}): SeenProcess {
  return { name: `${process} at a`, process, problems: {}, warnings: {}, facts, metrics: '' }
}

describe('the processes that operator doctor looks for', () => {
  const told = (processes: readonly SeenProcess[], known: readonly Finding[] = []): string[] =>
    checkProcesses(processes, true, known).map(({ state, found }) => `${state}: ${found}`)

  it('are all but the archive, which is optional', () => {
    expect(told(NEEDED.map(name => seen(name)))).to.deep.equal(['ok: 6 ready'])
    expect(told(NEEDED.slice(1).map(name => seen(name)))).to.deep.equal(['problem: No `api` answers.'])
  })

  it('include the archive where one process has it; then api and payments need it too', () => {
    const archived = { archive: 'PostgreSQL' }
    const all = [...NEEDED.map(name => seen(name, name === 'payments' ? archived : {})), seen('api', archived)]
    expect(told(all)).to.deep.equal([
      'problem: No `archive` answers.',
      'problem: api at a has no ARCHIVE_URL, and other processes have: it does not find archived payments.'
    ])
  })

  it('do not repeat what doctor has found by itself', () => {
    const away = { 'durable redis': "can't be asked", clock: 'is late' }
    const processes = NEEDED.map(name => ({ ...seen(name), ...(name === 'api' ? { problems: away } : {}) }))
    expect(told(processes)).to.deep.equal(["problem: api at a: can't be asked", 'problem: api at a: is late'])
    const known = [problem('durable redis', 'could not be used', 'Start it.')]
    expect(told(processes, known)).to.deep.equal(['problem: api at a: is late'])
  })
  it('are named together where several say the same', () => {
    const replicas = { replicas: 'Fewer than 1 replicas.' }
    const processes = NEEDED.map(name => ({ ...seen(name), ...(name.endsWith('s') ? { warnings: replicas } : {}) }))
    expect(told(processes)).to.deep.equal([
      'warning: tokens at a, notifications at a, payments at a, timers at a, webhooks at a: Fewer than 1 replicas.'
    ])
  })
})
