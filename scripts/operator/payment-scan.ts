/** What search and reports have in common: which payments are read, how fast, and the progress of the scan. */
import type { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { partitionOf } from '../../redis/keys.js'
import { delay } from '../../runtime/delay.js'
import { wholeNumber } from '../command-line/values.js'
import type { OperatorConnection } from './connection.js'
import { progressBar } from './output.js'
import type { OperatorWorld } from './verb.js'

/** One page in 33 ms: a few per cent of the time of one Redis. */
const RATE_DEFAULT = 3_000
/** A larger page would delay the requests of merchants. */
const PAGE = 100

export interface ScanOptions {
  readonly merchant?: string
  readonly rate: number
}

export function addScanOptions(command: Command): Command {
  return command
    .option('--merchant <id>', 'only payments of this merchant')
    .option('--rate <n>', 'payments read per second, at most', wholeNumber(1, 1_000_000), RATE_DEFAULT)
}

/**
 * The payments that were created in a range, merchant by merchant, the newest first. The rate is bounded, because requests
 * of merchants must not wait for a report. A payment that is created during the scan may be left out.
 */
export async function* scanPayments(
  { config, merchants, payments }: OperatorConnection,
  { terminal }: OperatorWorld,
  { merchant, rate }: ScanOptions,
  { fromMs, toMs, externalReference = null }: { fromMs: number; toMs: number; externalReference?: string | null }
): AsyncGenerator<Payment> {
  const wanted = merchant === undefined ? await merchants.listMerchants() : [await merchants.requireMerchant(merchant)]
  const startedMs = performance.now()
  let read = 0
  try {
    for (const [index, { merchantId }] of wanted.entries()) {
      const partition = partitionOf(merchantId, config.partitions)
      let afterId: string | null = null
      do {
        const range = { createdFromMs: fromMs, createdToMs: toMs, status: null, externalReference }
        const page = await payments.list({ merchantId, partition, afterId, ...range, limit: PAGE })
        yield* page.payments
        read += page.payments.length
        afterId = page.nextAfterId
        const oldestMs = page.payments.at(-1)?.terms.createdAtMs ?? toMs
        const share = afterId === null ? 1 : (toMs - oldestMs) / (toMs - fromMs)
        terminal?.(progressBar((index + share) / wanted.length, `${read} payments read`))
        await delay((read / rate) * 1_000 - (performance.now() - startedMs))
      } while (afterId !== null)
    }
  } finally {
    terminal?.('')
  }
}
