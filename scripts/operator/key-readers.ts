/** Whether every running `payments` can open what a key seals. */
import { livingConsumers } from '../../redis/commands/takeover.js'
import { allKeysFact } from '../../redis/installation/key-record.js'
import { delay } from '../../runtime/delay.js'
import type { OperatorConnection } from './connection.js'
import { askProcesses } from './doctor/process-checks.js'
import { type OpsOptions, opsAddresses } from './ops-addresses.js'

/** A process looks at its key file each second. */
const NOTICED_WITHIN_MS = 5_000
const POLL_MS = 250

/**
 * Asks the ops servers until each live `payments` reports the key. Resolves to undefined, or after 5 s to a sentence about
 * those that lack it.
 */
export async function paymentsWithout(
  keyId: string,
  connection: OperatorConnection,
  options: OpsOptions
): Promise<string | undefined> {
  const urls = [...new Set(await opsAddresses(options, connection.config.dataDir))]
  const deadlineMs = performance.now() + NOTICED_WITHIN_MS
  for (;;) {
    const found = await findWithout(keyId, connection, urls)
    if (found === undefined || performance.now() > deadlineMs) return found
    await delay(POLL_MS)
  }
}

async function findWithout(
  keyId: string,
  { redis, config }: OperatorConnection,
  urls: readonly string[]
): Promise<string | undefined> {
  const [{ seen }, living] = await Promise.all([askProcesses(urls), livingConsumers(redis, config.takeoverAfterMs)])
  const payments = seen.filter(({ process }) => process === 'payments')
  const without = payments.filter(({ facts }) => !(facts[allKeysFact('vault')] ?? '').split(' ').includes(keyId))
  if (without.length > 0) return `${without.map(({ name }) => name).join(', ')}: bring the private file there.`
  if (payments.length >= living.size) return undefined
  return `${living.size} \`payments\` run, and ${payments.length} reported their keys: give the ops addresses of all of them (--ops, --targets).`
}
