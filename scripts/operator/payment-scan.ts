/** What search and reports have in common: which payments are read, how fast, and how far the reading is. */
import type { Command } from 'commander'
import type { Payment } from '../../machines/model.js'
import { partitionOf } from '../../redis/keys.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { walkPayments } from '../../redis/operator/payment-walk.js'
import { wholeNumber } from '../command-line/values.js'
import type { OperatorConnection } from './connection.js'
import { progressBar } from './progress-bar.js'
import type { OperatorWorld } from './verb.js'

/** One page of 100 in 33 ms: a few per cent of the time of one Redis. */
const RATE_DEFAULT = 3_000

export interface ScanOptions {
  readonly merchant?: string
  readonly rate: number
}

export function addScanOptions(command: Command): Command {
  return command
    .option('--merchant <id>', 'only payments of this merchant')
    .option('--rate <n>', 'payments read per second, at most', wholeNumber(1, 1_000_000), RATE_DEFAULT)
}

/** The payments that were created in a range, at a bounded rate, with a progress bar at a terminal. */
export async function* scanPayments(
  { redis, config, payments }: OperatorConnection,
  { terminal }: OperatorWorld,
  { merchant, rate }: ScanOptions,
  range: { readonly fromMs: number; readonly toMs: number; readonly externalReference?: string | undefined }
): AsyncGenerator<Payment> {
  const store = new MerchantStore(redis, config.environment)
  const wanted = merchant === undefined ? await store.listMerchants() : [await store.requireMerchant(merchant)]
  const merchants = wanted.map(({ merchantId }) => ({
    merchantId,
    partition: partitionOf(merchantId, config.partitions)
  }))
  const { externalReference = null } = range
  try {
    yield* walkPayments(payments, {
      ...range,
      externalReference,
      merchants,
      perSecond: rate,
      onPage: (read, share) => terminal?.(progressBar(share, `${read} payments read`))
    })
  } finally {
    terminal?.('')
  }
}
