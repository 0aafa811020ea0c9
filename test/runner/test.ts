/**
 * `npm test`: lint and format, then all tests on the build that was just made; test files that
 * need Redis start it themselves (test/support/redis.ts). A small machine has two cores, and most tests wait more than they
 * compute: four processes run side by side and take one batch of files after the other. A fifth one uses the time in which they
 * wait: at low priority for what computes, then for the last batches.
 * A few system tests run on every supported version of Node. The last line is `N passed, M failed`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { oneOf, wholeNumber } from '../../scripts/command-line/values.js'
import { obtainPostgres } from '../../scripts/start/postgres-binary.js'
import { obtainRedis } from '../../scripts/start/redis-binary.js'
import { BROWSER_NAMES, type BrowserName, obtainBrowser } from './browser-binary.js'
import type { FileTime, Totals } from './counting-reporter.js'
import { obtainProgram } from './debian-program.js'
import { type MochaRun, runMocha, runNode } from './mocha-process.js'
import { fetchNodes, obtainNode, pinnedNodes } from './node-binaries.js'
import { batchesOf, IN_FIREFOX_TOO, isLowPriority, selectTestFiles } from './test-files.js'

const SLOWEST_SHOWN = 10
/** Starts the service, charges, refunds, posts webhooks, loses a worker and restarts: on each supported version of Node. */
const ON_EACH_NODE = 'system/first-charge'
const root = resolve(import.meta.dirname, '../../..')
process.chdir(root)

interface TestOptions {
  readonly grep?: string
  readonly invert?: boolean
  readonly bail?: boolean
  readonly timeout?: number
  readonly browser?: BrowserName
  readonly node?: string
  readonly cost?: boolean
}

const command = toolCommand({
  name: 'test',
  does: 'Lint, format, and all tests (.ci/run adds two drills). Tests that need Redis or a browser start their own, so that two checkouts can test side by side.',
  takes: 'about 7 minutes on two quiet cores; seconds for a few files.',
  examples: [
    ['', 'everything'],
    ['redis/payments/commits', 'the files whose path contains that, without lint'],
    ['--node 22 system', 'the system tests on Node 22'],
    ['redis --grep "twice"', 'and of those the tests with that in their name'],
    ['card-data --browser firefox', 'in Firefox what everything runs in Chromium']
  ]
})
  .argument('[path...]', 'parts of the paths of test files; all files when there is none')
  .option('-g, --grep <text>', 'only tests whose name contains this, or matches it as a regular expression')
  .option('-i, --invert', 'with --grep: the others')
  .option('-b, --bail', 'end after the first failure')
  .option('--browser <name>', `for tests that open pages: ${BROWSER_NAMES.join(', ')}`, oneOf(BROWSER_NAMES))
  .option('-t, --timeout <ms>', 'for each test; 0: none', wholeNumber(0))
  .option(
    '--node <line>',
    'runs the tests and their processes on that version of Node, such as 22 (test/node-versions)'
  )
  .option('--cost', 'prints the processor time of every test file at the end')
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
const batches = batchesOf(selectTestFiles(all.sort(), patterns), file => readFileSync(file, 'utf8'))

const say = (line: string): boolean => process.stdout.write(`${line}\n`)
const node = options.node === undefined ? undefined : await obtainNode(options.node, say)
const isEverything = patterns.length === 0
const {
  passed,
  failed,
  failures,
  files: times
} = await (isEverything
  ? runEverything()
  : runMocha(batches.flat(), { options: mochaOptions, browser: options.browser, node }))
if (isEverything || options.cost) process.stdout.write(costsOf(times, options.cost ? times.length : SLOWEST_SHOWN))
// Once more, at the end: the reports of the batches are long.
if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.map(failure => `  ${failure}`).join('\n')}\n`)
process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)

/** Test files that one process of mocha runs. */
interface TestRun {
  readonly files: readonly string[]
  readonly run: MochaRun
  /** Begun when this has resolved. */
  readonly after?: Promise<unknown>
}

/** Lint, all batches, and the pages of buyers in Firefox too. Prints each report at its end. */
async function runEverything(): Promise<Totals> {
  // Before the batches: several need these programs, and only one may fetch them.
  await obtainRedis(resolve('.vendor'), say)
  await obtainPostgres(resolve('.vendor'), say)
  await obtainBrowser('chromium', '.vendor', say)
  await obtainProgram('promtool', '.vendor', say)
  await obtainProgram('haproxy', '.vendor', say)
  // The last runs need these: they are fetched beside the first ones.
  const isFetched = Promise.all([obtainBrowser('firefox', '.vendor', say), fetchNodes(say)])
  isFetched.catch(() => undefined)
  const folder = mkdtempSync(join(tmpdir(), 'payments-reports-'))
  const lint = Promise.all([
    runNode(['node_modules/@biomejs/biome/bin/biome', 'check', '.']),
    runNode(['node_modules/knip/bin/knip.js'])
  ])
  const others = (await pinnedNodes()).filter(({ version }) => version !== (node?.version ?? process.versions.node))
  const small = selectTestFiles(all, [ON_EACH_NODE])
  // With --grep, only the tests that it chooses, here too.
  const inFirefox = options.grep === undefined ? ['--grep', IN_FIREFOX_TOO.tests, ...mochaOptions] : mochaOptions
  const inFirefoxToo = { options: inFirefox, browser: 'firefox', node } as const
  const batchRuns: readonly TestRun[] = batches.map(files => ({
    files,
    run: { options: mochaOptions, browser: options.browser, node, isLowPriority: isLowPriority(files) }
  }))
  const runs: readonly TestRun[] = [
    ...batchRuns.filter(({ run }) => !run.isLowPriority),
    { files: selectTestFiles(all, IN_FIREFOX_TOO.files), run: inFirefoxToo, after: isFetched },
    ...others.map(other => ({ files: small, run: { options: mochaOptions, node: other }, after: isFetched }))
  ]
  const lowPriority = batchRuns.filter(({ run }) => run.isLowPriority)
  let reports = 0
  let sum: Totals = { passed: 0, failed: 0, failures: [], files: [] }
  const runAll = async (take: () => TestRun | undefined, share: string): Promise<void> => {
    for (let taken = take(); taken !== undefined; taken = take()) {
      const { files, run, after } = taken
      await after
      const report = join(folder, `${reports++}.txt`)
      const totals = await runMocha(files, { ...run, share, report })
      process.stdout.write(readFileSync(report))
      sum = {
        passed: sum.passed + totals.passed,
        failed: sum.failed + totals.failed,
        failures: [...sum.failures, ...totals.failures.map(name => [...placeOf(run), name].join(': '))],
        files: [...sum.files, ...totals.files]
      }
      if (options.bail && sum.failed > 0) return
    }
  }
  const waiting = [...runs]
  const first = (): TestRun | undefined => waiting.shift()
  const lanes = [first, first, first, first, () => lowPriority.shift() ?? waiting.pop()]
  await Promise.all(lanes.map((take, lane) => runAll(take, `${lane}/${lanes.length}`)))
  rmSync(folder, { recursive: true, force: true })
  if ((await lint).every(code => code === 0)) return sum
  process.stdout.write('\nnpm run lint failed: see above, and `npm run format`\n')
  return { ...sum, failed: sum.failed + 1, failures: [...sum.failures, 'npm run lint'] }
}

/** Where a test failed, when that is not the usual browser or not the usual Node. */
function placeOf({ browser, node }: MochaRun): string[] {
  return [...(browser === 'firefox' ? ['in Firefox'] : []), ...(node ? [`on Node ${node.version}`] : [])]
}

/** Where the time went, for those who want `npm test` to take less of it. */
function costsOf(times: readonly FileTime[], shown: number): string {
  const sum = times.reduce((total, { processorS }) => total + processorS, 0)
  const slowest = [...times].sort((a, b) => b.processorS - a.processorS).slice(0, shown)
  const rows = slowest.map(
    ({ file, wallS, processorS }) =>
      `  ${processorS.toFixed(1).padStart(6)} s ${wallS.toFixed(1).padStart(6)} s  ${file}`
  )
  return [`\nProcessor time ${sum.toFixed(0)} s. Most of it (processor, wall):`, ...rows, ''].join('\n')
}
