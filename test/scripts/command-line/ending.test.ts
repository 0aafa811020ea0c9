import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect } from 'chai'
import { wordsOf } from '../../../scripts/command-line/ending.js'
import { UsageError } from '../../../scripts/command-line/usage-error.js'

const HERE = `${process.cwd()}/dist/scripts/command-line`

interface Ending {
  readonly exitCode: number | null
  readonly out: string
  readonly err: string
}

/** Runs the text of a module; `onOutput` may do something to it once it has said something. `redirect` is for the shell. */
function run(
  text: string,
  onOutput: (child: ReturnType<typeof spawn>) => void = () => undefined,
  redirect = ''
): Promise<Ending> {
  const command = `exec "$0" --input-type=module -e "$1" ${redirect}`
  const child = spawn('/bin/sh', ['-c', command, process.execPath, text], { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    printed.out += chunk
    onOutput(child)
  })
  child.stderr.on('data', chunk => {
    printed.err += chunk
  })
  return new Promise(resolve => {
    child.once('close', exitCode => resolve({ exitCode, ...printed }))
  })
}

describe('the end of a tool', () => {
  it('is a sentence when it is expected, and has a stack when it is a bug', () => {
    expect(wordsOf(new Error('Port 4000 is taken.'))).to.equal('error: Port 4000 is taken.\n')
    expect(wordsOf(new UsageError('No.'))).to.equal('error: No.\n(add --help for the options)\n')
    expect(wordsOf(new TypeError('x is not a function'))).to.match(/^TypeError: x is not a function\n +at /)
    expect(wordsOf(new Error('unreachable: there is no payer'))).to.match(/\n +at /)
    expect(wordsOf('thrown text')).to.equal('error: thrown text\n')
  })

  it('prints an uncaught error', async () => {
    const { exitCode, err } = await run(
      `import { endWithWords } from '${HERE}/ending.js'; endWithWords(); throw new Error('No Redis answers.')`
    )
    expect({ exitCode, err }).to.deep.equal({ exitCode: 1, err: 'error: No Redis answers.\n' })
  })

  it('is a sentence when there is no room for its output', async () => {
    const text = `import { endWithWords } from '${HERE}/ending.js'
      endWithWords(); process.stdout.write('lost'); setInterval(() => undefined, 1_000)`
    const { exitCode, err } = await run(text, undefined, '> /dev/full')
    expect({ exitCode, err }).to.deep.equal({ exitCode: 1, err: 'error: ENOSPC: no space left on device, write\n' })
  })

  it('leaves no folder behind after any signal', async () => {
    const text = `import { stopOnSignals } from '${HERE}/ending.js'
      import { temporaryFolder } from '${HERE}/temporary-folder.js'
      stopOnSignals()
      process.stdout.write((await temporaryFolder('payments-ending-')).path)
      setInterval(() => undefined, 1_000)`
    for (const [signal, expected] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129]
    ] as const) {
      const { exitCode, out } = await run(text, child => child.kill(signal))
      expect(exitCode, signal).to.equal(expected)
      expect(out).to.contain('payments-ending-')
      expect(existsSync(out), out).to.equal(false)
    }
  })

  it('waits for a server to stop, but not after a second signal', async () => {
    const text = (stop: string): string => `import { stopOnSignals } from '${HERE}/ending.js'
      stopOnSignals(() => ${stop}); setInterval(() => undefined, 1_000); process.stdout.write('up ')`
    const stopped = await run(text("new Promise(done => { process.stdout.write('down'); done() })"), child =>
      child.kill('SIGINT')
    )
    expect(stopped).to.deep.equal({ exitCode: 0, out: 'up down', err: '' })

    let asking: NodeJS.Timeout | undefined
    const stuck = await run(text('new Promise(() => undefined)'), child => {
      child.kill('SIGINT')
      // Again and again: two signals that come while it is not scheduled are one.
      asking ??= setInterval(() => child.kill('SIGINT'), 1_200)
    })
    clearInterval(asking)
    expect(stuck.exitCode).to.equal(130)
  })

  it('is quiet without a reader', async () => {
    const text = `import { endWithWords } from '${HERE}/ending.js'
      endWithWords(); setInterval(() => process.stdout.write('line\\n'), 10)`
    const { exitCode, err } = await run(text, child => child.stdout?.destroy())
    expect({ exitCode, err }).to.deep.equal({ exitCode: 1, err: '' })
  })
})
