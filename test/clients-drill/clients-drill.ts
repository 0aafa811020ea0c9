/**
 * `npm run clients-drill`: clients in other languages, generated from docs/, do the whole story of a merchant. Exit code 0:
 * each was generated, compiled, and did its story, also against a service that answers more than it knows. Exit code 1: one
 * did not, or could not be tried, because a tool lacks or a registry does not answer.
 */
import { appendFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { stopOnSignals } from '../../scripts/command-line/ending.js'
import { readCommandLine, toolCommand } from '../../scripts/command-line/tool.js'
import { listOf, oneOf } from '../../scripts/command-line/values.js'
import { vendorDir } from '../../scripts/start/databases.js'
import { logFile } from '../support/option-values.js'
import { clients } from './clients.js'
import { columns, type Row, runDrill } from './run-drill.js'
import { sampleNames } from './sample-rows.js'

const names = [...clients.map(({ name }) => name), ...sampleNames]
const command = toolCommand({
  name: 'clients-drill',
  does: 'Generates clients from docs/openapi-3.0.json and docs/openapi.json with the tools of other languages, compiles them, and lets each one charge, decline, capture, refund, list, store a card and verify a webhook, against a service of its own; then again behind a proxy that adds fields and values to every answer. Runs the samples of client/samples/first-charge, too. Fetches tools into .vendor. Exit code 0: all of that worked.',
  takes: 'about three minutes on two cores; the first time longer, because tools are fetched.',
  examples: [['--only "openapi-generator go,oapi-codegen"', 'some of them']]
})
  .option('--only <names>', `only these: ${names.join(', ')}`, listOf(oneOf(names)))
  .option(
    '--where-possible',
    'what cannot be tried here is said, and no failure: a tool lacks, or a registry is silent'
  )
  .option('--log <file>', 'append what fails, in full', logFile)
const { options } = readCommandLine<{
  readonly only?: readonly string[]
  readonly wherePossible?: boolean
  readonly log?: string
}>(command)
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
const countOf = (state: Row['state']): number => rows.filter(row => row.state === state).length
write(
  `\nClients: ${countOf('ok')} did their story, ${countOf('FAILED')} failed, ${countOf('not tried')} were not tried`
)
process.exit(countOf('FAILED') > 0 || (countOf('not tried') > 0 && !options.wherePossible) ? 1 : 0)

function lineOf(cells: readonly string[]): string {
  const widths = [24, 9, ...columns.map(column => column.length)]
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()
}
