/** What `operator doctor` says of work that no process sees. */
import type { Redis } from '../../../redis/connection/connections.js'
import { MerchantStore } from '../../../redis/merchants/merchants.js'
import { type PaymentWithoutCommand, paymentsWithoutCommand } from '../../../redis/operator/missing-commands.js'
import type { Config } from '../../../runtime/config.js'
import { isoTime } from '../output.js'
import { attempt, type Finding, ok, warning } from './finding.js'

/** So many payments are named. */
const NAMED_MAX = 5

/** Whether someone has trimmed a stream of commands. */
export async function checkCommands(
  redis: Redis,
  { partitions, environment }: Pick<Config, 'partitions' | 'environment'>
): Promise<Finding[]> {
  const mend = 'Load ops/redis/durable.acl of this release (ACL LOAD): the user must read every queue.'
  return await attempt('commands', mend, async () => {
    const merchantIds = await new MerchantStore(redis, environment).listIds()
    return findingOf(await paymentsWithoutCommand(redis, partitions, merchantIds))
  })
}

function findingOf(lost: readonly PaymentWithoutCommand[]): Finding {
  const check = 'commands'
  if (lost.length === 0) return ok(check, 'every payment in progress has one')
  const named = lost
    .slice(0, NAMED_MAX)
    .map(({ paymentId, wakesAtMs }) => `${paymentId} (${isoTime(wakesAtMs) ?? 'never'})`)
  const more = lost.length > NAMED_MAX ? ` and ${lost.length - NAMED_MAX} more` : ''
  return warning(
    check,
    `${lost.length} payments in progress have no command any more: ${named.join(', ')}${more}.`,
    'Wait: `timers` wakes each at the time that stands with it, and what was sent is asked for first. Find who trims or deletes in the streams `{pNN}:commands` (docs/OPERATIONS.md, PaymentsNeedOperator).'
  )
}
