/** The pages of docs/, and the types of client/, that are made from the code, so that they can't say anything else. */
import { loadHostedFields } from '../../api/tokens/hosted-fields.js'
import { declineColumns, declineRows } from '../../machines/declines.js'
import { describeSettings } from '../../runtime/config.js'
import { type ErrorSpec, errorCatalogue } from '../../runtime/errors.js'
import { everyProcess } from '../../runtime/setting.js'
import { apiPage } from './api/page.js'
import { clientTypeFiles } from './client-types.js'
import { filledPage, type Page } from './filled-page.js'
import { type LockedPackage, lockedPackages } from './licences.js'
import { metricGroups } from './metrics-page.js'
import { OPENAPI_FILE, openApiFile } from './openapi/document.js'
import { table } from './table.js'

/** Each generated page as it must be. */
export function generatedPages(): Page[] {
  return [
    apiPage(),
    filledPage('docs/CONFIGURATION.md', { settings: settingTables() }),
    filledPage('docs/DECLINES.md', { codes: declineCodes() }),
    filledPage('docs/ERRORS.md', { errors: errorTable() }),
    filledPage('docs/FIELDS_RELEASE.md', { release: fieldsScript() }),
    filledPage('docs/LICENCES.md', licenceParts()),
    filledPage('docs/METRICS.md', { metrics: metricTables() }),
    { path: OPENAPI_FILE, content: openApiFile() },
    ...clientTypeFiles()
  ]
}

function settingTables(): string {
  const sections = describeSettings().map(({ title, file, rows }) => {
    const cells = rows.map(({ variable, usedBy, fallback, doc }) => [
      `\`${variable}\``,
      fallback === '' ? '(empty)' : `\`${fallback}\``,
      usedByText(usedBy),
      doc
    ])
    return `## ${title}\n\nSource: \`${file}\`.\n\n${table(['Variable', 'Default', 'Used by', 'Meaning'], cells)}`
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
  mastercard: 'Mastercard, Hipercard',
  amex: 'Amex',
  test: 'test environment'
}

function declineCodes(): string {
  const rows = declineRows.map(({ reason, mayRetry, means, codes }) => [
    `\`${reason}\``,
    mayRetry ? 'yes' : 'no',
    means,
    ...declineColumns.map(column => codes[column].map(code => `\`${code}\``).join(' '))
  ])
  const brands = declineColumns.map(column => columnNames[column])
  return table(['`decline_reason`', '`may_retry`', 'The issuer says', ...brands], rows)
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
  const { version, integrity } = loadHostedFields('').current
  return [
    '```html',
    `<script src="{tokens}/v1/fields/${version}/fields.js"`,
    `  integrity="${integrity}"`,
    '  crossorigin="anonymous"></script>',
    '```'
  ].join('\n')
}

function licenceParts(): Record<string, string> {
  const packages = lockedPackages()
  const rows = packages.filter(one => !one.isDevelopment).map(one => [one.name, one.version, one.licence])
  return {
    packages: table(['Package', 'Version', 'Licence'], rows),
    'development-packages': `${countByLicence(packages.filter(one => one.isDevelopment))}.`
  }
}

function countByLicence(packages: readonly LockedPackage[]): string {
  const licences = [...new Set(packages.map(({ licence }) => licence))].sort()
  return licences.map(licence => `${packages.filter(one => one.licence === licence).length} ${licence}`).join(', ')
}

function metricTables(): string {
  const sections = metricGroups().map(({ processes, rows }) => {
    const cells = rows.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map(label => `\`${label}\``).join(', '),
      help
    ])
    return `## Of ${processes}\n\n${table(['Name', 'Type', 'Labels', 'Meaning'], cells)}`
  })
  return sections.join('\n\n')
}
