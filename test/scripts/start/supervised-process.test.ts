import { expect } from 'chai'
import { pauseMs, SupervisedProcess } from '../../../scripts/start/supervised-process.js'
import { until } from '../../support/conditions.js'
import { pidsWith } from '../../support/processes.js'

/** In the command line of everything that is started here. */
const marker = `supervised-process-test-${process.pid}`

describe('supervised process', () => {
  let current: SupervisedProcess | undefined
  let output = ''
  const run = async (script: string): Promise<SupervisedProcess> => {
    output = ''
    current = new SupervisedProcess({
      name: 'tiny.1',
      script: `: ${marker}\n${script}`,
      cwd: process.cwd(),
      environment: async () => ({ PATH: process.env['PATH'] }),
      onOutput: text => {
        output += text
      },
      onEnd: () => undefined
    })
    await current.start()
    return current
  }
  afterEach(async () => {
    await current?.stop(0)
    expect(pidsWith(marker), 'processes left over').to.deep.equal([])
  })

  it('waits longer after each quick death, up to five seconds', () => {
    expect([1, 2, 3, 4, 20].map(pauseMs)).to.deep.equal([100, 200, 400, 800, 5_000])
  })

  it('kills what ignores SIGTERM after the grace period, children included', async () => {
    const deaf = await run('trap "" TERM; (while :; do sleep 1; done) & echo up; while :; do sleep 1; done')
    await until('it runs', () => output.includes('up'))
    await deaf.stop(100)
    expect(pidsWith(marker)).to.deep.equal([])
  })

  it('kills the processes that a dead leader left behind', async () => {
    await run('sh -c "echo up; while :; do sleep 1; done" & sleep 0.1; exit 1')
    await until('it was started twice', () => output.split('up').length > 2)
  })

  it('starts with core dumps off, because memory may hold card data (invariant 7)', async () => {
    await run('ulimit -c; exec sleep 60')
    await until('it says its limit', () => output === '0\n')
  })

  it('can be stopped before it was started, and twice', async () => {
    const idle = new SupervisedProcess({
      name: 'idle.1',
      script: 'exit 0',
      cwd: process.cwd(),
      environment: async () => ({}),
      onOutput: () => undefined,
      onEnd: () => undefined
    })
    await idle.stop(0)
    await idle.stop(0)
  })
})
