/**
 * `npm test`: everything that CI runs. Lint and format, then all tests on the build that was just made; test files that
 * need Redis start it themselves (test/support/redis.ts). Two lists of files run side by side, one for each core of a
 * small machine. The last line is `N passed, M failed`.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { messageOf } from '../runtime/message-of.js'
import { readCommandLine, toolCommand } from './command-line/tool.js'
import { wholeNumber } from './command-line/values.js'
import { obtainRedis } from './supervisor/redis-binary.js'
import { obtainChromium } from './testing/chromium-binary.js'
import type { Totals } from './testing/counting-reporter.js'
import { lanesOf, selectTestFiles } from './testing/test-files.js'

const root = resolve(import.meta.dirname, '../..')
process.chdir(root)

interface TestOptions {
  readonly grep?: string
  readonly invert?: boolean
  readonly bail?: boolean
  readonly timeout?: number
}

const command = toolCommand({
  name: 'test',
  does: 'Lint, format, and all tests: everything that CI runs. Tests that need Redis or a browser start their own, so that two checkouts can test side by side.',
  takes: 'about 8 minutes on two cores; seconds for a few files.',
  examples: [
    ['', 'everything'],
    ['redis/commits', 'the files whose path contains that, without lint'],
    ['redis --grep "twice"', 'and of those the tests with that in their name']
  ]
})
  .argument('[path...]', 'parts of the paths of test files; all files when there is none')
  .option('-g, --grep <text>', 'only tests whose name contains this, or matches it as a regular expression')
  .option('-i, --invert', 'with --grep: the others')
  .option('-b, --bail', 'end after the first failure')
  .option('-t, --timeout <ms>', 'for tests that set no time of their own; 0: none', wholeNumber(0))
const { options, args: patterns } = readCommandLine<TestOptions>(command)
const mochaOptions = [
  ...(options.grep === undefined ? [] : ['--grep', options.grep]),
  ...(options.invert ? ['--invert'] : []),
  ...(options.bail ? ['--bail'] : []),
  ...(options.timeout === undefined ? [] : ['--timeout', String(options.timeout)])
]

const all = readdirSync('dist/test', { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.test.js'))
  .map(name => join('dist/test', name))
const files = selectTestFiles(all.sort(), patterns)

const isEverything = patterns.length === 0
const isLintClean = !isEverything || (await run('node_modules/@biomejs/biome/bin/biome', ['check', '.'])) === 0
const { passed, failed } = await (isEverything ? runLanes() : runMocha(files))
const failures = failed + (isLintClean ? 0 : 1)
if (!isLintClean) process.stdout.write('\nbiome check failed: see above, and `npx biome check --write .`\n')
process.stdout.write(`\n${passed} passed, ${failures} failed\n`)
process.exit(failures === 0 && passed > 0 ? 0 : 1)

/** All lanes at the same time. The first prints as it goes; the reports of the others follow when it has ended. */
async function runLanes(): Promise<Totals> {
  // Before the lanes: both need these programs, and only one may fetch them.
  const say = (line: string): boolean => process.stdout.write(`${line}\n`)
  await obtainRedis(resolve('.vendor'), say)
  await obtainChromium('.vendor', say)
  const folder = mkdtempSync(join(tmpdir(), 'payments-reports-'))
  const lanes = lanesOf(files).map((laneFiles, index, all) => {
    const report = index === 0 ? undefined : join(folder, `${index}.txt`)
    return { report, totals: runMocha(laneFiles, { share: `${index}/${all.length}`, report }) }
  })
  let sum = { passed: 0, failed: 0 }
  for (const { report, totals } of lanes) {
    const { passed, failed } = await totals
    if (report !== undefined) process.stdout.write(readFileSync(report))
    sum = { passed: sum.passed + passed, failed: sum.failed + failed }
  }
  rmSync(folder, { recursive: true, force: true })
  return sum
}

/** `share`: of the free ports, for `freePort`. `report`: a file for the output, in the place of standard output. */
async function runMocha(
  testFiles: readonly string[],
  { share = '0/1', report }: { share?: string; report?: string | undefined } = {}
): Promise<Totals> {
  const folder = mkdtempSync(join(tmpdir(), 'payments-totals-'))
  const file = join(folder, 'totals.json')
  try {
    const reporter = [
      '--reporter',
      './dist/scripts/testing/counting-reporter.js',
      '--reporter-option',
      `totals=${file}`
    ]
    const args = [...reporter, ...mochaOptions, ...testFiles]
    const output = report === undefined ? 'inherit' : openSync(report, 'w')
    const exitCode = await run('node_modules/mocha/bin/mocha.js', args, { env: { PORT_SHARE: share }, output })
    if (existsSync(file)) return withExitCode(JSON.parse(readFileSync(file, 'utf8')) as Totals, exitCode)
    process.stdout.write(`\nThe tests did not run to their end (exit code ${exitCode}).\n`)
    return { passed: 0, failed: 1 }
  } catch (error) {
    process.stdout.write(`${messageOf(error)}\n`)
    return { passed: 0, failed: 1 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Mocha fails for reasons that no test is counted for: a pending test, an error in the last hook. */
function withExitCode(totals: Totals, exitCode: number): Totals {
  return exitCode !== 0 && totals.failed === 0 ? { ...totals, failed: 1 } : totals
}

/** Runs one of the tools with this Node. A signal to this process goes on to it. Resolves to its exit code. */
function run(
  script: string,
  scriptArgs: readonly string[],
  { env = {}, output = 'inherit' }: { env?: Record<string, string>; output?: 'inherit' | number } = {}
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...scriptArgs], {
      env: { ...process.env, ...env },
      stdio: ['inherit', output, output]
    })
    const passOn = (signal: NodeJS.Signals): boolean => child.kill(signal)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, passOn)
    child.once('error', reject)
    child.once('exit', code => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, passOn)
      resolve(code ?? 1)
    })
  })
}
