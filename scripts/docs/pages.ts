/** The pages of docs/, and the types of client/, that are made from the code, so that they can't say anything else. */
import { loadHostedFields } from '../../api/tokens/hosted-fields.js'
import { describeSettings } from '../../runtime/config.js'
import { type ErrorSpec, errorCatalogue } from '../../runtime/errors.js'
import { everyProcess } from '../../runtime/setting.js'
import { API_PAGE, apiPage } from './api/page.js'
import { clientTypeFiles } from './client-types.js'
import { declinesPage } from './declines-page.js'
import { type LockedPackage, lockedPackages } from './licences.js'
import { metricGroups } from './metrics-page.js'
import { OPENAPI_FILE, openApiFile } from './openapi/document.js'
import { table } from './table.js'

const NOTIFICATION = '<!-- Made by `npm run docs`. Change the source named below, then run it again. -->'

/** Path of each generated page, relative to the checkout, and its content. */
export function generatedPages(): { path: string; content: string }[] {
  return [
    { path: API_PAGE, content: apiPage() },
    { path: 'docs/CONFIGURATION.md', content: configurationPage() },
    { path: 'docs/DECLINES.md', content: declinesPage(NOTIFICATION) },
    { path: 'docs/ERRORS.md', content: errorsPage() },
    { path: 'docs/FIELDS_RELEASE.md', content: fieldsPage() },
    { path: 'docs/LICENCES.md', content: licencesPage() },
    { path: 'docs/METRICS.md', content: metricsPage() },
    { path: OPENAPI_FILE, content: openApiFile() },
    ...clientTypeFiles()
  ]
}

function configurationPage(): string {
  const sections = describeSettings().map(({ title, file, rows }) => {
    const cells = rows.map(({ variable, usedBy, fallback, doc }) => [
      `\`${variable}\``,
      fallback === '' ? '(empty)' : `\`${fallback}\``,
      usedByText(usedBy),
      doc
    ])
    return `## ${title}\n\nSource: \`${file}\`.\n\n${table(['Variable', 'Default', 'Used by', 'Meaning'], cells)}`
  })
  return [
    '# Configuration',
    NOTIFICATION,
    'All settings are environment variables (source: the files of `runtime/settings/`). A process that is started with bad ' +
      'ones, or without a key file that it needs, names all of them in one log line (`problems`) and ends with code 78. So ' +
      'does one that finds a variable like ours with a misspelt name. An empty variable counts as not set. Each may be given ' +
      'as a file instead, which keeps secrets out of the environment: `REDIS_URL_FILE=/run/secrets/redis-url` in the place ' +
      'of `REDIS_URL`.',
    '*Used by* names the processes that read a variable. The others need not know it: `npm start` does not tell them, and ' +
      "in production only these should be given it. `network` is the simulator, `operator` the operator's command line, `doctor` its check of the card network, `tools` the " +
      'other commands that run beside `npm start`, which reads all variables itself.',
    ...sections
  ].join('\n\n')
}

/** The processes of the Procfile in one word where all of them use it. */
function usedByText(usedBy: readonly string[]): string {
  const isAll = everyProcess.every(name => usedBy.includes(name))
  const others = usedBy.filter(name => !(isAll && (everyProcess as readonly string[]).includes(name)))
  return [...(isAll ? ['every process'] : []), ...others.map(name => `\`${name}\``)].join(', ')
}

function errorsPage(): string {
  const specs: [string, ErrorSpec][] = Object.entries(errorCatalogue)
  const rows = specs.map(([name, { status, retryable, message, publicCode }]) => [
    String(status),
    `\`${publicCode ?? name}\``,
    retryable ? 'yes' : 'no',
    message
  ])
  return [
    '# Errors',
    NOTIFICATION,
    'Every error that a merchant can meet (source: `runtime/errors.ts`). *Retryable* says whether the same request can ' +
      'succeed later without a change; with a new `Idempotency-Key` where the message says so. A code may have several rows: the message tells them apart.',
    table(['Status', 'Code', 'Retryable', 'What happened, and what to do'], rows)
  ].join('\n\n')
}

function fieldsPage(): string {
  const { version, integrity } = loadHostedFields('').current
  return [
    '# The current build of fields.js',
    NOTIFICATION,
    'Version and hash of the script that brings the hosted fields into a page (source: `api/tokens/browser/`; also at ' +
      '`GET {tokens}/v1/fields.json`). A page that pins it loads exactly this build, or nothing:',
    [
      '```html',
      `<script src="{tokens}/v1/fields/${version}/fields.js"`,
      `  integrity="${integrity}"`,
      '  crossorigin="anonymous"></script>',
      '```',
      ''
    ].join('\n')
  ].join('\n\n')
}

function licencesPage(): string {
  const packages = lockedPackages()
  const rows = packages.filter(one => !one.isDevelopment).map(one => [one.name, one.version, one.licence])
  return [
    '# Licences',
    NOTIFICATION,
    'Packages that serve merchants (source: `package-lock.json`):',
    table(['Package', 'Version', 'Licence'], rows),
    `Packages for developing only: ${countByLicence(packages.filter(one => one.isDevelopment))}.\n`
  ].join('\n\n')
}

function countByLicence(packages: readonly LockedPackage[]): string {
  const licences = [...new Set(packages.map(({ licence }) => licence))].sort()
  return licences.map(licence => `${packages.filter(one => one.licence === licence).length} ${licence}`).join(', ')
}

function metricsPage(): string {
  const sections = metricGroups().map(({ processes, rows }) => {
    const cells = rows.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map(label => `\`${label}\``).join(', '),
      help
    ])
    return `## Of ${processes}\n\n${table(['Name', 'Type', 'Labels', 'Meaning'], cells)}`
  })
  return [
    '# Metrics',
    NOTIFICATION,
    'The figures that each process serves at `/metrics` of its ops server (source: the files `…-metrics.ts` of api and workers, ' +
      '`runtime/metrics.ts` and `redis/connection/redis-memory.ts`). The Prometheus client adds its own about Node (`nodejs_…`, `process_…`: event-loop ' +
      'lag, memory, CPU, garbage collection). The dashboards are in `ops/dashboards/`, the alerts in `ops/alerts.yml`; what to do ' +
      'about an alert: [OPERATIONS.md](OPERATIONS.md).',
    ...sections
  ].join('\n\n')
}
