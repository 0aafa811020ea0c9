/** Runs test files with mocha in a process of its own, and bounds how long that outlives its last test. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import type { BrowserName } from './browser-binary.js'
import type { Totals } from './counting-reporter.js'
import type { NodeBinary } from './node-binaries.js'

export interface MochaRun {
  /** Options of mocha, such as `--bail`. */
  readonly options: readonly string[]
  /** For the tests that need one. */
  readonly browser?: BrowserName | undefined
  /** Which of the free ports are for these tests (`freePort`), such as `1/3`. */
  readonly share?: string
  /** A file for the output, in the place of standard output. */
  readonly report?: string
  /** What the tests and the processes that they start run on; the Node of this process when absent. */
  readonly node?: NodeBinary | undefined
  /** Gives way to all other processes of the machine. */
  readonly isLowPriority?: boolean
  /** How long the process may still run after its last test, of which stopping what tests share is a part (ms). */
  readonly leftOpenAfterMs?: number
}

/** Stopping a service takes 15 s at most, and ten times that on a machine that is busy. */
const LEFT_OPEN_AFTER_MS = 180_000
const LOOK_EVERY_MS = 250
/** Room for young objects: the simulation, which makes many, takes 6 % less processor time than with the usual 16 MB. */
const NODE_FLAGS = ['--enable-source-maps', '--max-semi-space-size=64']

/** Resolves also when mocha does not come to its end: that counts as a failure, which names the files. */
export async function runMocha(
  testFiles: readonly string[],
  {
    options,
    browser = 'chromium',
    share = '0/1',
    report,
    node,
    isLowPriority = false,
    leftOpenAfterMs = LEFT_OPEN_AFTER_MS
  }: MochaRun
): Promise<Totals> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-totals-'))
  const file = join(folder, 'totals.json')
  const leftOpen = new AbortController()
  const looking = setInterval(() => {
    if (existsSync(file) && Date.now() - statSync(file).mtimeMs > leftOpenAfterMs) leftOpen.abort()
  }, LOOK_EVERY_MS)
  try {
    const reporter = ['--reporter', './dist/test/runner/counting-reporter.js', '--reporter-option', `totals=${file}`]
    const args = [...NODE_FLAGS, 'node_modules/mocha/bin/mocha.js', ...reporter, ...options, ...testFiles]
    const output = report === undefined ? 'inherit' : openSync(report, 'w')
    const env = { PORT_SHARE: share, TEST_BROWSER: browser, LEFT_OPEN_AFTER_MS: String(leftOpenAfterMs) }
    const exitCode = await runNode(args, { env, node, output, isLowPriority, signal: leftOpen.signal })
    if (!existsSync(file)) return failed(`the tests did not run to their end (exit code ${exitCode})`, testFiles)
    const totals = JSON.parse(readFileSync(file, 'utf8')) as Totals
    if (!leftOpen.signal.aborted) return withExitCode(totals, exitCode)
    const problem = `mocha was killed ${leftOpenAfterMs} ms after its last test: a test left a server or a process open`
    return failed(problem, testFiles, totals)
  } catch (error) {
    return failed(messageOf(error), testFiles)
  } finally {
    clearInterval(looking)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Mocha fails for reasons that no test is counted for: a pending test, an error in the last hook. */
function withExitCode(totals: Totals, exitCode: number): Totals {
  if (exitCode === 0 || totals.failed > 0) return totals
  return { ...totals, failed: 1, failures: [`mocha ended with exit code ${exitCode}: see its report above`] }
}

const NOTHING: Totals = { passed: 0, failed: 0, failures: [], files: [] }

function failed(problem: string, testFiles: readonly string[], totals = NOTHING): Totals {
  const failure = `${problem}: ${testFiles.join(', ')}`
  return { ...totals, failed: totals.failed + 1, failures: [...totals.failures, failure] }
}

/** Runs `node`, or the Node of this process. A signal to this process goes on to it; `signal` kills it. Resolves to its exit code. */
export function runNode(
  args: readonly string[],
  {
    env = {},
    node,
    output = 'inherit',
    isLowPriority = false,
    signal
  }: {
    env?: Record<string, string>
    node?: NodeBinary | undefined
    output?: 'inherit' | number
    isLowPriority?: boolean
    signal?: AbortSignal
  } = {}
): Promise<number> {
  return new Promise((resolve, reject) => {
    const program = node === undefined ? process.execPath : join(node.folder, 'node')
    // The Procfile finds its node on the PATH.
    const path = node === undefined ? {} : { PATH: `${node.folder}${delimiter}${process.env['PATH']}` }
    const child = spawn(program, args, {
      env: { ...process.env, ...path, ...env },
      stdio: ['inherit', output, output]
    })
    if (isLowPriority && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    const passOn = (name: NodeJS.Signals): boolean => child.kill(name)
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, passOn)
    signal?.addEventListener('abort', () => child.kill('SIGKILL'))
    child.once('error', reject)
    child.once('exit', code => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, passOn)
      resolve(code ?? 1)
    })
  })
}
