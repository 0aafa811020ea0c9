/** docs/MACHINES.md, made from the machine. */
import {
  type AnswerRow,
  captureRows,
  deniedSaleRows,
  errorRows,
  httpRows,
  voidRows
} from '../../../machines/acquirer-answers.js'
import { type Chart, readChart } from '../../../machines/chart.js'
import { contradictions } from '../../../machines/payment/findings.js'
import { paymentMachine } from '../../../machines/payment/machine.js'
import { filledPage, type Page, type Row, table, withoutRepeats } from '../markdown.js'
import { mermaidOf } from './mermaid.js'
import { views } from './views.js'

export function machinePage(): Page {
  return filledPage('docs/MACHINES.md', {
    answers: answerTable(),
    contradictions: contradictions.map(({ means }) => `- ${means}`).join('\n'),
    machines: machineSection(readChart(paymentMachine)).join('\n\n')
  })
}

/** What each answer of the acquirer proves (machines/acquirer-answers.ts). */
function answerTable(): string {
  const groups: readonly (readonly [string, readonly AnswerRow[]])[] = [
    ['return code of a denied sale', deniedSaleRows],
    ['return code of a capture', captureRows],
    ['return code of a void or refund', voidRows],
    ['error code', errorRows],
    ['HTTP status without an error code', httpRows]
  ]
  const rows = groups.flatMap(([name, group]) =>
    group.map(({ codes, proof, means }): Row => [name, codes, `\`${proof}\``, means])
  )
  return table(['Answer', 'Codes', 'Proves', 'Means'], withoutRepeats(rows))
}

function machineSection(chart: Chart): string[] {
  return [`## ${chart.id}`, chart.description, ...views.flatMap(view => [`### ${view.title}`, mermaidOf(chart, view)])]
}
