import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'

interface Ending {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

/** What other people's programs answer is theirs. */
const NOT_OURS = ['audit', 'lint', 'format']
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
const commands = Object.keys(scripts).filter(name => !NOT_OURS.includes(name))

/** Runs a command of package.json, without npm in front. */
function run(name: string, ...args: string[]): Promise<Ending> {
  const [, file = ''] =
    /^(?:[A-Z_]+=\S+ )?exec node scripts\/bootstrap\.mjs ([a-z/-]+)$/.exec(scripts[name] ?? '') ?? []
  const env = { ...process.env, COLUMNS: '60', DATA_DIR: 'dist/no-such-folder' }
  return new Promise(resolve => {
    execFile(process.execPath, ['scripts/bootstrap.mjs', file, ...args], { env }, (error, out, err) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err })
    })
  })
}

describe('the commands of package.json', () => {
  for (const name of commands) {
    it(`${name} prints its help, and refuses an unknown option`, async () => {
      const [help, typo] = await Promise.all([run(name, '--help'), run(name, '--no-such-option')])
      expect(help.exitCode, help.err).to.equal(0)
      expect(help.err).to.equal('')
      expect(help.out).to.match(/^Usage: /)
      // The operator's nouns are not something that takes a while.
      if (name !== 'operator') expect(help.out).to.contain('\nTakes: ')
      expect(typo).to.deep.equal({
        exitCode: 2,
        out: '',
        err: "error: unknown option '--no-such-option'\n(add --help for the options)\n"
      })
    })
  }

  it('operator fails when there is no room for what it prints', async () => {
    const command = 'exec node scripts/bootstrap.mjs scripts/operator/operator --help > /dev/full'
    const [exitCode, err] = await new Promise<[unknown, string]>(resolve => {
      execFile('/bin/sh', ['-c', command], (error, _, said) => resolve([error?.code, said]))
    })
    expect([exitCode, err]).to.deep.equal([1, 'error: ENOSPC: no space left on device, write\n'])
  })

  for (const [line, words] of [
    ['start payments', 'payments: expected name=count, such as payments=4'],
    ['start --procfile=no-such-file', 'The Procfile no-such-file cannot be read'],
    ['bench --rounds', "option '--rounds <count>' argument missing"],
    ['chaos --crash-points commit.after,commit.during', '"commit.during" is wrong. A point is a step of'],
    ['simulate --mutant no-such-mutant', 'Known: no-version-compare, '],
    ['shop --port http', 'Give a whole number from 0 to 65535.'],
    ['docs all', 'too many arguments'],
    ['test no-such-test', 'No test file matches no-such-test.']
  ] as const) {
    it(`${line}: reports what is wrong`, async () => {
      const [name, ...args] = line.split(' ')
      const { exitCode, out, err } = await run(name ?? '', ...args)
      expect(err)
        .to.match(/^error: /)
        .and.to.contain(words)
        .and.not.to.match(/^ +at /m)
      expect({ exitCode, out }).to.deep.equal({ exitCode: 2, out: '' })
    })
  }

  for (const [line, words] of [
    ['shop', 'Run `npm start` in another terminal first'],
    ['webhooks:listen', 'There is no demo merchant in dist/no-such-folder.']
  ] as const) {
    it(`${line}: fails with a sentence and without a stack`, async () => {
      const [name, ...args] = line.split(' ')
      const { exitCode, out, err } = await run(name ?? '', ...args)
      expect(exitCode).to.equal(1)
      expect(out + err)
        .to.contain(words)
        .and.not.to.match(/^ +at /m)
    })
  }
})
