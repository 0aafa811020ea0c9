import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { killAllWith, pidsWith } from '../../support/processes.js'

describe('npm start', () => {
  let dir = ''
  let npm: ChildProcess
  let output = ''

  const isGone = (): boolean => pidsWith(dir).length === 0
  /** The one child of npm: npm's script begins with `exec`, so no shell stands between. */
  const supervisorPid = (): number => {
    const [pid] = pidsWith(`scripts/bootstrap.mjs scripts/start/start --procfile=${dir}`)
    if (pid === undefined) throw new Error('The supervisor was not found')
    return pid
  }

  const start = async (): Promise<void> => {
    dir = await mkdtemp(join(tmpdir(), 'payments-start-'))
    output = ''
    const line = (name: string): string => `${name}: exec node dist/test/support/tiny-process.js ${name} live ${dir}\n`
    await writeFile(join(dir, 'Procfile'), line('api') + line('payments'))
    const ports = { PORT: '0', TOKENS_PORT: '0', NETWORK_PORT: '0', NOTIFICATIONS_PORT: '0' }
    npm = spawn('npm', ['start', '--', `--procfile=${dir}/Procfile`, 'payments=2'], {
      env: { ...process.env, ...ports, DATA_DIR: dir },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    for (const stream of [npm.stdout, npm.stderr]) {
      stream?.on('data', chunk => {
        output += chunk
      })
    }
    await until('npm start is ready', () => output.includes('Ready.')).catch(() => expect.fail(output))
  }
  const clean = async (): Promise<void> => {
    killAllWith(dir)
    await rm(dir, { recursive: true, force: true })
  }

  describe('in order: start, rolling restart, SIGTERM', () => {
    before(start)
    after(clean)

    it('prints the URLs and keys that demo.json holds', async () => {
      const demo = JSON.parse(await readFile(join(dir, 'demo.json'), 'utf8')) as Record<string, string>
      for (const name of ['base_url', 'merchant_id', 'api_key', 'publishable_key'])
        expect(output).to.contain(demo[name])
    })

    it('restarts its processes for every request, also during a restart', async () => {
      const restart = (): Promise<[number | null, string]> => {
        const tool = spawn(process.execPath, ['scripts/bootstrap.mjs', 'scripts/start/rolling-restart'], {
          env: { ...process.env, DATA_DIR: dir },
          stdio: ['ignore', 'pipe', 'inherit']
        })
        let said = ''
        tool.stdout.on('data', chunk => {
          said += chunk
        })
        return new Promise(resolve => tool.once('close', code => resolve([code, said])))
      }
      const first = restart()
      await until('the first process was restarted', () => output.includes('payments.1 is restarted'))
      for (const [code, said] of await Promise.all([first, restart()])) {
        expect(said.split('\n').sort().filter(Boolean)).to.deep.equal([
          'api.1 is new, and ready',
          'payments.1 is new, and ready',
          'payments.2 is new, and ready'
        ])
        expect(code).to.equal(0)
      }
    })

    it('stops everything on SIGTERM to npm', async () => {
      npm.kill('SIGTERM')
      await until('nothing is left', isGone)
      await until('npm start has said so', () => output.includes('Stopped.'))
    })
  })

  describe('however it ends', () => {
    beforeEach(start)
    afterEach(clean)

    it('stops everything in order on Ctrl-C, which reaches npm and the supervisor both', async () => {
      process.kill(-(npm.pid ?? Number.NaN), 'SIGINT')
      await until('nothing is left', isGone)
      await until('npm start has said so', () => output.includes('Stopped.'))
    })

    it('leaves nothing when npm is killed', async () => {
      npm.kill('SIGKILL')
      await until('nothing is left', isGone)
    })

    it('leaves nothing when the supervisor itself is killed', async () => {
      process.kill(supervisorPid(), 'SIGKILL')
      await until('nothing is left', isGone)
    })
  })
})
