/** What `operator doctor` says of work: what waits for an operator, and what no process sees. */
import { type QueueStatus, queueStatus } from '../../../redis/commands/queue-status.js'
import type { Redis } from '../../../redis/connection/connections.js'
import { WRONG_TYPES_FACT } from '../../../redis/connection/wrong-types.js'
import { fixedKeys, typeOfKey } from '../../../redis/key-types.js'
import { MerchantStore } from '../../../redis/merchants/merchants.js'
import { type PaymentWithoutCommand, paymentsWithoutCommand } from '../../../redis/operator/missing-commands.js'
import type { Config } from '../../../runtime/config.js'
import { isoTime } from '../output.js'
import type { SeenProcess } from '../processes.js'
import { attempt, type Finding, firstOf, ok, problem, verdict, warning } from './finding.js'

const RIGHTS = 'Load ops/redis/durable.acl of this release (ACL LOAD): the user must read every queue.'

/** One line each for what waits until an operator decides. `serviceMs`: the time by which workers judge. */
export async function checkAttention(
  redis: Redis,
  { partitions }: Pick<Config, 'partitions'>,
  serviceMs: number
): Promise<Finding[]> {
  return await attempt('work', RIGHTS, async () => {
    const rows = await queueStatus(redis, partitions, serviceMs)
    const line = (check: string, of: (row: QueueStatus) => number, what: string, advice: string): Finding => {
      const count = rows.reduce((sum, row) => sum + of(row), 0)
      if (count === 0) return ok(check, 'none')
      return warning(check, `${count} ${what}.`, `${advice} (docs/OPERATIONS.md, PaymentsNeedOperator).`)
    }
    const cause = 'Find the cause, then `dead-letter list`'
    return [
      line('dead letters', row => row.deadLetters, 'commands had no result', cause),
      line('manual review', row => row.inReview, 'payments are listed', 'Decide about each: `payment attention`')
    ]
  })
}

/** Whether someone has trimmed a stream of commands. */
export async function checkCommands(
  redis: Redis,
  { partitions, environment }: Pick<Config, 'partitions' | 'environment'>
): Promise<Finding[]> {
  return await attempt('commands', RIGHTS, async () => {
    const merchantIds = await new MerchantStore(redis, environment).listIds()
    return findingOf(await paymentsWithoutCommand(redis, partitions, merchantIds))
  })
}

function findingOf(lost: readonly PaymentWithoutCommand[]): Finding {
  const check = 'commands'
  if (lost.length === 0) return ok(check, 'every payment in progress has one')
  const named = lost.map(({ paymentId, wakesAtMs }) => `${paymentId} (${isoTime(wakesAtMs) ?? 'never'})`)
  return warning(
    check,
    `${lost.length} payments in progress have no command any more: ${firstOf(named)}.`,
    'Wait: `timers` wakes each at the time that stands with it, and what was sent is asked for first. Find who trims or deletes in the streams `{pNN}:commands` (docs/OPERATIONS.md, PaymentsNeedOperator).'
  )
}

/** Keys that another program wrote: those with fixed names, and those of the commands that failed in a process. */
export async function checkKeyTypes(
  redis: Redis,
  { partitions }: Pick<Config, 'partitions'>,
  seen: readonly SeenProcess[]
): Promise<Finding[]> {
  const check = 'types of keys'
  const met = seen.flatMap(({ facts }) => (facts[WRONG_TYPES_FACT] ?? '').split(' '))
  return await attempt(check, RIGHTS, async () => {
    const found = await Promise.all(
      [...new Set([...fixedKeys(partitions), ...met])].map(async key => ({ key, type: await redis.type(key) }))
    )
    const wrong = found.filter(({ key, type }) => type !== 'none' && type !== (typeOfKey(key) ?? type))
    const named = wrong.map(({ key, type }) => `${key} is a ${type}, not a ${typeOfKey(key)}`)
    return verdict(
      check,
      'as the service writes them',
      wrong.length > 0 &&
        problem(
          check,
          `Another program wrote keys of the service, and commands about them fail: ${firstOf(named, '; ')}.`,
          'Find who writes it. Look what it holds, and RENAME it away: the service makes it again (docs/OPERATIONS.md, Problems and warnings).'
        )
    )
  })
}
