/** The parts of docs/, and the types of client/, that are made from the code. A test fails while they differ. */
import { rejectedFields } from '../../api/payments/rejected-fields.js'
import { loadHostedFields } from '../../api/tokens/hosted-fields.js'
import { type ErrorSpec, errorCatalogue } from '../../contract/errors.js'
import { declineColumns, declineRows } from '../../machines/declines.js'
import { describeSettings } from '../../runtime/config.js'
import { everyProcess } from '../../runtime/setting.js'
import { apiPage } from './api/page.js'
import { clientTypeFiles } from './client-types.js'
import { machinePage } from './diagrams/chart-pages.js'
import { filledPage, type Page, type Row, table, withoutRepeats } from './markdown.js'
import { metricGroups } from './metrics-page.js'
import { documentFiles } from './openapi/document-files.js'

/** Each generated page as it must be. */
export function generatedPages(): Page[] {
  return [
    apiPage(),
    filledPage('docs/CONFIGURATION.md', { settings: settingTables() }),
    filledPage('docs/DECLINES.md', { codes: declineCodes(), rejections: rejectionCodes() }),
    filledPage('docs/ERRORS.md', { errors: errorTable() }),
    filledPage('docs/HOSTED_FIELDS.md', { release: fieldsScript() }),
    filledPage('docs/METRICS.md', { metrics: metricTables() }),
    ...documentFiles(),
    ...clientTypeFiles(),
    machinePage()
  ]
}

function settingTables(): string {
  const sections = describeSettings().map(({ title, file, rows }) => {
    const cells = rows.map(({ variable, usedBy, fallback, doc }) => [
      fallback === '' ? `\`${variable}\`` : `\`${variable}=${fallback}\``,
      usedByText(usedBy),
      doc
    ])
    return `## ${title}\n\nSource: \`${file}\`.\n\n${table(['Variable, and default', 'Used by', 'Meaning'], cells)}`
  })
  return sections.join('\n\n')
}

/** The processes of the Procfile in one word where all of them use it. */
function usedByText(usedBy: readonly string[]): string {
  const isAll = everyProcess.every(name => usedBy.includes(name))
  const others = usedBy.filter(name => !(isAll && (everyProcess as readonly string[]).includes(name)))
  return [...(isAll ? ['every process'] : []), ...others.map(name => `\`${name}\``)].join(', ')
}

const columnNames: Readonly<Record<(typeof declineColumns)[number], string>> = {
  elo: 'Elo',
  visa: 'Visa',
  mastercard: 'Mastercard',
  amex: 'Amex',
  test: 'test'
}

function declineCodes(): string {
  const rows = declineRows.map(
    ({ reason, mayRetry, means, codes }): Row => [`\`${reason}\``, mayRetry ? 'yes' : 'no', means, codesByBrand(codes)]
  )
  return table(['`decline_reason`', '`may_retry`', 'The issuer says', 'Codes, and whose'], withoutRepeats(rows))
}

/** `51` Elo, Visa; `116` Amex: brands with the same codes together. */
function codesByBrand(codes: (typeof declineRows)[number]['codes']): string {
  const brandsOf = new Map<string, string[]>()
  for (const column of declineColumns) {
    const words = codes[column].map(code => `\`${code}\``).join(' ')
    if (words !== '') brandsOf.set(words, [...(brandsOf.get(words) ?? []), columnNames[column]])
  }
  return [...brandsOf].map(([words, brands]) => `${words} ${brands.join(', ')}`).join('; ')
}

function rejectionCodes(): string {
  const rows = Object.entries(rejectedFields)
  const paths = [...new Set(rows.map(([, path]) => path))]
  const codesOf = (path: string): string => rows.flatMap(([code, of]) => (of === path ? [`\`${code}\``] : [])).join(' ')
  return table(
    ['`rejection_code`', 'Field'],
    paths.map(path => [codesOf(path), `\`${path}\``])
  )
}

function errorTable(): string {
  const specs: [string, ErrorSpec][] = Object.entries(errorCatalogue)
  const rows = specs.map(([name, { status, retryable, message, publicCode }]) => [
    String(status),
    `\`${publicCode ?? name}\``,
    retryable ? 'yes' : 'no',
    message
  ])
  return table(['Status', 'Code', 'Retryable', 'What happened, and what to do'], rows)
}

function fieldsScript(): string {
  const { version, integrity } = loadHostedFields().current
  return [
    '```html',
    `<script src="{tokens}/v1/fields/${version}/fields.js"`,
    `  integrity="${integrity}"`,
    '  crossorigin="anonymous"></script>',
    '```'
  ].join('\n')
}

function metricTables(): string {
  const sections = metricGroups().map(({ processes, rows }) => {
    const cells = rows.map(({ name, type, labels, help }) => [
      labels.length === 0 ? `\`${name}\`` : `\`${name}{${labels.join()}}\``,
      type,
      help
    ])
    return `## Of ${processes}\n\n${table(['Name{labels}', 'Type', 'Meaning'], cells)}`
  })
  return sections.join('\n\n')
}
