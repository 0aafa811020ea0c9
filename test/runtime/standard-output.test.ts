import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { expect } from 'chai'

const HERE = `${process.cwd()}/dist/runtime`
/** What `ulimit -f 1` allows: a block of 512 bytes, or of 1,024. */
const ROOM_MAX = 1_024

/** A file without more room is like one on a full disk: a write ends in the middle of a text, and the next one fails. */
describe('standard output that is a file without room', () => {
  let dir = ''
  let file = ''
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-output-'))
    file = join(dir, 'log')
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  /** Runs the text of a module for each line of its input, `print(line)`, and answers on standard error. */
  function writer(print: string): { print(line: string): Promise<string>; end(): Promise<void> } {
    const text = `import { createLogger } from '${HERE}/log.js'
      import { LastingOutput, writeToStandardOutput } from '${HERE}/standard-output.js'
      import { createInterface } from 'node:readline'
      const print = ${print}
      createInterface({ input: process.stdin }).on('line', line => {
        try { print(line); console.error('done') } catch (error) { console.error(error.code) }
      })`
    const command = `ulimit -S -f 1; exec "$0" --input-type=module -e "$1" >> "$2"`
    const child = spawn('/bin/sh', ['-c', command, process.execPath, text, file], { stdio: ['pipe', 'ignore', 'pipe'] })
    const answers = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
    return {
      print: async line => {
        child.stdin.write(`${line}\n`)
        return String((await answers.next()).value)
      },
      end: async () => {
        const ended = once(child, 'close')
        child.stdin.end()
        await ended
      }
    }
  }

  it('loses lines while there is none, and goes on when there is, with their number', async () => {
    const { print, end } = writer(
      `line => output.write(line + '\\n')
       const output = new LastingOutput(({ lines, reason }) => output.write(lines + ' lost: ' + reason + '\\n'))`
    )
    const long = 'x'.repeat(ROOM_MAX)
    // The first one ends in the middle, without an error of the system.
    for (const line of ['first', long, 'second', 'third']) expect(await print(line)).to.equal('done')
    await truncate(file)
    expect(await print('fourth')).to.equal('done')
    expect(await print('fifth')).to.equal('done')
    await end()
    expect(await readFile(file, 'utf8')).to.match(/^\nfourth\n3 lost: EFBIG.*\nfifth\n$/)
  })

  it('loses lines of a log in the same way', async () => {
    const { print, end } = writer(`line => log.info(line)
      const log = createLogger('test', 'info')`)
    for (const line of ['first', 'x'.repeat(ROOM_MAX), 'second']) expect(await print(line)).to.equal('done')
    await truncate(file)
    expect(await print('third')).to.equal('done')
    await end()
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    const told = lines.map(line => JSON.parse(line)).map(({ level, msg, lines: lost }) => ({ level, msg, lost }))
    expect(told).to.deep.equal([
      { level: 'info', msg: 'third', lost: undefined },
      { level: 'warn', msg: 'lines of the log were lost', lost: 2 }
    ])
  })

  it('is an error for a tool, also when a part was written', async () => {
    const { print, end } = writer('line => writeToStandardOutput(line)')
    expect(await print('x'.repeat(2 * ROOM_MAX))).to.equal('EFBIG')
    await end()
  })
})
