import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { webhooks } from '../../../client/index.js'
import { type ErrorSpec, errorCatalogue } from '../../../contract/errors.js'
import { declineReasons } from '../../../machines/declines.js'
import { REFUNDS_MAX } from '../../../machines/payment/refunds.js'
import { RETENTION_DAYS, WAITING_MAX } from '../../../machines/webhook-delivery.js'
import { type Config, keyFilesOf, readConfig } from '../../../runtime/config.js'
import { generatedPages } from '../../../scripts/docs/pages.js'
import { parseProcfile } from '../../../scripts/start/procfile.js'
import { signatureHeader } from '../../../workers/webhooks/signature.js'

/** Licences that only require to keep their text. PSF-2.0 and Python-2.0 belong to development packages. */
const PERMISSIVE =
  /^\(?(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|CC0-1\.0|PSF-2\.0|Python-2\.0)( OR .*)?$/

/** Asks for the source of changed files: harmless for tools that are neither changed nor shipped. */
const UNCHANGED = 'MPL-2.0'

interface LockFile {
  readonly packages: Readonly<Record<string, { version?: string; license?: string; dev?: boolean }>>
}

describe('generated documentation', () => {
  const pages = generatedPages()

  it('is what the code says now (else: npm run docs)', () => {
    const stale = pages.filter(({ path, content }) => readFileSync(path, 'utf8') !== content)
    expect(stale.map(({ path }) => path)).to.deep.equal([])
  })

  it('shows the code that merchants see, not the name of the row', () => {
    const errors = pages.find(page => page.path.endsWith('ERRORS.md'))?.content
    expect(errors).to.contain('`invalid_state`').and.not.to.contain('`operation_in_progress`')
  })

  it('docs/API.md says of every error where it may come', () => {
    const page = readFileSync('docs/API.md', 'utf8')
    const rows: [string, ErrorSpec][] = Object.entries(errorCatalogue)
    const codes = rows.map(([name, { publicCode }]) => publicCode ?? name)
    expect(codes.filter(code => !page.includes(`\`${code}\``))).to.deep.equal([])
  })

  it('docs/DECLINES.md advises on every reason, in their order', () => {
    const [advice = ''] = readFileSync('docs/DECLINES.md', 'utf8').split('## Sentences')
    const reasons = [...advice.matchAll(/^\| `(\w+)` \| .{5,} \|$/gm)].map(([, reason]) => reason)
    expect(reasons.filter(reason => reason !== 'decline_reason')).to.deep.equal(declineReasons)
  })
})

describe('the licences of the packages', () => {
  it('are permissive for every package that is shipped', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile
    // Our own packages have no version in the lock file.
    const locked = Object.entries(packages).filter(([path, { version }]) => path !== '' && version !== undefined)
    const others = locked.filter(
      ([, { license = 'unknown', dev }]) => !PERMISSIVE.test(license) && !(dev === true && license === UNCHANGED)
    )
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).to.deep.equal([])
    expect(locked.length).to.be.greaterThan(100)
  })
})

const processes = parseProcfile(readFileSync('Procfile', 'utf8')).map(({ name }) => name)

describe('README.md', () => {
  it('describes every process of the Procfile, and no other', () => {
    const rows = [...readFileSync('README.md', 'utf8').matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name)
    expect(rows).to.deep.equal(processes)
  })
})

describe('docs/RUNNING.md', () => {
  it('gives other Procfile runners every key file that a process of the Procfile needs', () => {
    const [, recipe = ''] =
      /## Other Procfile runners.*?```sh\n(.*?)```/s.exec(readFileSync('docs/RUNNING.md', 'utf8')) ?? []
    const needed = processes.flatMap(keyFilesOf)
    expect(needed.length).to.be.greaterThan(3)
    expect(needed.filter(variable => !recipe.includes(`${variable}=`))).to.deep.equal([])
  })
})

/** Sentences of pages that are written by hand, and the setting whose default they tell. */
const SENTENCES: readonly (readonly [page: string, setting: keyof Config, words: string])[] = [
  ['API', 'resultWaitMs', '(without it, or with any other: 8 s)'],
  ['API', 'tokenTtlMs', 'lives 15 minutes and can be used once'],
  ['DESIGN', 'networkRetryMs', 'calls that were not sent are retried for 4 s'],
  ['DESIGN', 'notFoundHorizonMs', '"Not found" counts only beyond the horizon (10 min'],
  ['HOSTED_FIELDS', 'tokenTtlMs', 'A token pays once, within 15 minutes'],
  ['OPERATIONS', 'shedAfterMs', 'has waited for a worker longer than 8 s'],
  ['OPERATIONS', 'takeoverAfterMs', 'A worker was silent for 8 s'],
  ['PAYMENTS', 'notFoundHorizonMs', 'for the horizon (10 min)'],
  ['PAYMENTS', 'reconcileDelaysMs', 'after 2 s, then 5 s, 15 s, 1 min, 5 min, 15 min and each hour'],
  ['PAYMENTS', 'reconcileListAfterMs', 'listed for manual review after 72 h'],
  ['PAYMENTS', 'resultWaitMs', '(`Prefer: wait=N`, 8 s by default)'],
  ['SECURITY', 'tokenTtlMs', 'in it, after 15 min or'],
  ['WEBHOOKS', 'webhookRetryDelaysMs', '5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h, 24 h and 24 h'],
  ['WEBHOOKS', 'webhookTimeoutMs', 'within 10 seconds'],
  ['WEBHOOKS', 'webhookUndeliverableMax', 'the newest 100,000 of them']
]
const DAY_MS = 86_400_000
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS }
const config = readConfig({ SERVICE_ENV: 'test' })

describe('defaults in the sentences of the docs', () => {
  for (const [page, setting, words] of SENTENCES) {
    it(`${page}.md states that of ${setting}`, () => {
      const text = readFileSync(`docs/${page}.md`, 'utf8').replace(/\s+/g, ' ')
      expect(text, 'Was the sentence changed? Then change it here, too.').to.contain(words)
      const value: unknown = config[setting]
      const wanted = (Array.isArray(value) ? value : [value]).map(one => (/Days$/.test(setting) ? one * DAY_MS : one))
      expect(figuresIn(words)).to.deep.equal(wanted)
    })
  }
})

describe('docs/PAYMENTS.md', () => {
  it('states how many refunds a payment may have, and how many it lists', () => {
    const page = readFileSync('docs/PAYMENTS.md', 'utf8')
    expect(page).to.contain(`at most ${REFUNDS_MAX} refunds`).and.to.contain(`The list holds ${REFUNDS_MAX} refunds`)
  })
})

describe('docs/WEBHOOKS.md', () => {
  const page = readFileSync('docs/WEBHOOKS.md', 'utf8')

  it('states how many events of a payment may wait, and for how long others are kept', () => {
    expect(page).to.contain(`**More than ${WAITING_MAX} waiting events of one payment**`)
    expect(page).to.contain(`kept for another ${RETENTION_DAYS} days`)
  })
})

/** `5 min and each hour` is 300000, 3600000; a number without a unit stands for itself. */
function figuresIn(words: string): number[] {
  return [...words.matchAll(/(\d[\d,]*|each)(?: (s|min|h|d))?/g)].map(
    ([, count = '', unit]) =>
      (count === 'each' ? 1 : Number(count.replaceAll(',', ''))) *
      (unit === undefined ? 1 : (UNIT_MS[unit[0] ?? ''] ?? 0))
  )
}

describe('the example signature of docs/WEBHOOKS.md', () => {
  it('is what the service signs, and what the client believes', () => {
    const page = readFileSync('docs/WEBHOOKS.md', 'utf8')
    const [, secret = '', body = '', header = ''] = /With the secret `(\w+)`.*?```\n(.*?)\n(.*?)\n```/s.exec(page) ?? []
    const nowMs = Number(/t=(\d+)/.exec(header)?.[1]) * 1_000
    expect(signatureHeader([secret], nowMs, body)).to.equal(header)
    expect(webhooks.verify(body, header, secret, { nowMs }).status).to.equal('captured')
  })
})
