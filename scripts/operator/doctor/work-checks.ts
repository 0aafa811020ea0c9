/** What `operator doctor` says of the work: whether the addresses name the right servers, and what waits for an operator. */
import { queueStatus } from '../../../redis/commands/queue-status.js'
import { connect, disconnect, type Redis } from '../../../redis/connection/connections.js'
import type { Config } from '../../../runtime/config.js'
import { createLogger } from '../../../runtime/log.js'
import { sumOf } from '../queue.js'
import { attempt, CONNECT_TIMEOUT_MS, type Finding, ok, problem, warning } from './finding.js'

/** A problem when each of the two addresses names the other server: all other checks would mislead. */
export async function checkSwapped(redis: Redis, secretsUrl: string | undefined): Promise<Finding | undefined> {
  if (secretsUrl === undefined || (await appends(redis))) return undefined
  const log = createLogger('operator', 'silent')
  const other = await connect(secretsUrl, 'secrets', log, 'SECRETS_REDIS_URL', CONNECT_TIMEOUT_MS).catch(() => null)
  if (other === null) return undefined
  try {
    if (!(await appends(other))) return undefined
    return problem(
      'addresses',
      'REDIS_URL names the memory-only Redis, and SECRETS_REDIS_URL the durable one.',
      'Exchange the two here, and in each process that has them so.'
    )
  } finally {
    await disconnect(other)
  }
}

async function appends(redis: Redis): Promise<boolean> {
  return /^aof_enabled:1/m.test(await redis.info('persistence'))
}

/** One line each for what waits until an operator decides. */
export async function checkWork(
  redis: Redis,
  { partitions }: Pick<Config, 'partitions'>,
  serviceMs: number
): Promise<Finding[]> {
  const mend = 'Load ops/redis/durable.acl of this release (ACL LOAD): the user must read every queue.'
  return await attempt('work', mend, async () => {
    const { deadLetters, inReview } = sumOf(await queueStatus(redis, partitions, serviceMs))
    const line = (check: string, count: number, what: string, advice: string): Finding =>
      count === 0 ? ok(check, 'none') : warning(check, `${count} ${what}.`, advice)
    const page = '(docs/OPERATIONS.md, PaymentsNeedOperator).'
    return [
      line('dead letters', deadLetters, 'commands had no result', `Find the cause, then \`dead-letter list\` ${page}`),
      line('manual review', inReview, 'payments are listed', `Decide about each: \`payment attention\` ${page}`)
    ]
  })
}
