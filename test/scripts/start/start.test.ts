import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../support/conditions.js'
import { killAllWith, pidsWith } from '../../support/processes.js'

const PORTS = { PORT: '0', TOKENS_PORT: '0', NETWORK_PORT: '0', NOTIFICATIONS_PORT: '0' }

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

  /** Lines of the Procfile. The second kind notes in `stopped` that it was asked to stop. */
  const tiny = (name: string): string => `node dist/test/support/tiny-process.js ${name} live ${dir}`
  const noting = (name: string): string => `trap ': > ${dir}/stopped' TERM; exec 3<&0; ${tiny(name)} <&3 & wait; wait`

  const writeProcfile = async (): Promise<void> => {
    await writeFile(join(dir, 'Procfile'), `api: ${noting('api')}\npayments: exec ${tiny('payments')}\n`)
  }
  const start = async (): Promise<void> => {
    dir = await mkdtemp(join(tmpdir(), 'payments-start-'))
    output = ''
    await writeProcfile()
    npm = spawn('npm', ['start', '--', `--procfile=${dir}/Procfile`, 'payments=2'], {
      env: { ...process.env, ...PORTS, DATA_DIR: dir },
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

  describe('in order: start, SIGTERM', () => {
    before(start)
    after(clean)

    it('prints the URLs and keys that demo.json holds', async () => {
      const demo = JSON.parse(await readFile(join(dir, 'demo.json'), 'utf8')) as Record<string, string>
      for (const name of ['base_url', 'merchant_id', 'api_key', 'publishable_key'])
        expect(output).to.contain(demo[name])
    })

    it('stops everything on SIGTERM to npm', async () => {
      npm.kill('SIGTERM')
      await until('nothing is left', isGone)
      await until('npm start has said so', () => output.includes('Stopped.'))
    })
  })

  describe('into a file', () => {
    /** Blocks of 512 or of 1,024 bytes: far above what else is written, so that a long file is like a full disk. */
    const BLOCKS_MAX = 100_000
    const log = (): Promise<string> => readFile(join(dir, 'log'), 'utf8')
    const makeDir = async (): Promise<void> => {
      dir = await mkdtemp(join(tmpdir(), 'payments-start-'))
      await writeProcfile()
    }
    const tool = (redirect: string): ChildProcess => {
      const command = `ulimit -S -f ${BLOCKS_MAX}; exec "$0" scripts/bootstrap.mjs scripts/start/start "$@" ${redirect}`
      return spawn('/bin/sh', ['-c', command, process.execPath, `--procfile=${dir}/Procfile`, 'payments=2'], {
        env: { ...process.env, ...PORTS, DATA_DIR: dir },
        stdio: ['ignore', 'ignore', 'pipe']
      })
    }
    beforeEach(makeDir)
    afterEach(clean)

    it('goes on while there is no room for its lines, and prints again when there is', async () => {
      const supervisor = tool(`>> ${dir}/log`)
      await until('it is ready', async () => (await log().catch(() => '')).includes('Ready.'))
      const pids = (): number[] => pidsWith(tiny('payments'))
      const restarted = async (): Promise<void> => {
        const [killed = Number.NaN] = pids()
        process.kill(killed, 'SIGKILL')
        await until('both run again', () => pids().length === 2 && !pids().includes(killed))
      }
      await truncate(join(dir, 'log'), 1_024 * BLOCKS_MAX)
      await restarted()
      await truncate(join(dir, 'log'))
      await restarted()
      const told = /payments\.[12] ended by SIGKILL(.|\n)*\n\d+ lines of this output were lost: EFBIG/
      await until('it has printed again', async () => told.test(await log()))
      supervisor.kill('SIGTERM')
      await until('nothing is left', isGone)
      expect(existsSync(join(dir, 'stopped'))).to.equal(true)
    })

    it('is refused on a full disk', async () => {
      const supervisor = tool('> /dev/full')
      let said = ''
      supervisor.stderr?.on('data', chunk => {
        said += chunk
      })
      const [code] = await once(supervisor, 'close')
      expect([code, said]).to.deep.equal([1, 'error: ENOSPC: no space left on device, write\n'])
      await until('nothing is left', isGone)
    })
  })

  describe('however it ends', () => {
    beforeEach(start)
    afterEach(clean)

    it('stops everything in order when the reader of its output is gone', async () => {
      npm.stdout?.destroy()
      // The supervisor prints that, and no process reads it.
      process.kill(pidsWith(tiny('payments'))[0] ?? Number.NaN, 'SIGKILL')
      await until('nothing is left', isGone)
      expect(existsSync(join(dir, 'stopped'))).to.equal(true)
    })

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
