/**
 * `npm run clients-drill`: clients in other languages, generated from docs/, do the whole story of a merchant. Exit code 0:
 * each was generated, compiled, and did its story, also against a service that answers more than it knows.
 */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { stopOnSignals } from '../../scripts/command-line/ending.js'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { listOf, logFile, oneOf } from '../../scripts/command-line/values.js'
import { vendorDir } from '../../scripts/start/databases.js'
import { clients } from './clients.js'
import { columns, runDrill } from './run-drill.js'
import { sampleNames } from './sample-rows.js'

const names = [...clients.map(({ name }) => name), ...sampleNames]
const command = toolCommand({
  name: 'clients-drill',
  does: 'Generates clients from docs/openapi-3.0.json and docs/openapi.json with the tools of other languages, compiles them, and lets each one charge, decline, capture, refund, list, store a card and verify a webhook, against a service of its own; then again behind a proxy that adds fields and values to every answer. Runs the samples of client/samples/first-charge, too. Fetches tools into .vendor. Exit code 0: all of that worked.',
  takes: 'about three minutes on two cores; the first time longer, because tools are fetched.',
  examples: [['--only "openapi-generator go,oapi-codegen"', 'some of them']]
})
  .option('--only <names>', `only these: ${names.join(', ')}`, listOf(oneOf(names)))
  .option('--log <file>', 'append what fails, in full', logFile)
const { options } = readCommandLine<{ readonly only?: readonly string[]; readonly log?: string }>(command)
stopOnSignals()

const root = resolve(import.meta.dirname, '../../..')
const write = (line: string): void => void process.stdout.write(`${line}\n`)
write(lineOf(['client', 'version', ...columns]))
const rows = await runDrill({
  root,
  vendorDir: vendorDir(root),
  names: options.only ?? names,
  say: line => void process.stderr.write(`${line}\n`),
  onRow: row => write(lineOf([row.name, row.version, ...columns.map(column => row.cells[column] ?? '')]))
})
const problems = rows.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]))
for (const problem of problems) write(`\n${problem}`)
if (options.log !== undefined) appendFileSync(options.log, `${problems.join('\n\n')}\n`)
process.exit(problems.length === 0 ? 0 : 1)

function lineOf(cells: readonly string[]): string {
  const widths = [24, 9, ...columns.map(column => column.length)]
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()
}
