import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type Config, readConfig } from '../../../runtime/config.js'

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

/** `5 min and each hour` is 300000, 3600000; a number without a unit stands for itself. */
function figuresIn(words: string): number[] {
  return [...words.matchAll(/(\d[\d,]*|each)(?: (s|min|h|d))?/g)].map(
    ([, count = '', unit]) =>
      (count === 'each' ? 1 : Number(count.replaceAll(',', ''))) *
      (unit === undefined ? 1 : (UNIT_MS[unit[0] ?? ''] ?? 0))
  )
}
