/** Which Redis an operator means: the one of `REDIS_URL`, or the one that `npm start` runs for this `DATA_DIR`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openArchive } from '../../archive/open-archive.js'
import { withArchive } from '../../archive/payment-store.js'
import type { Payment } from '../../machines/model.js'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { readClockOffset } from '../../redis/connection/redis-clock.js'
import { claimInstallation, findInstallation, type Installation } from '../../redis/installation/installation.js'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { type Config, isGiven, readConfig } from '../../runtime/config.js'
import { createLogger } from '../../runtime/log.js'
import { messageOf } from '../../runtime/message-of.js'
import { isUuid } from '../../runtime/uuid.js'
import { UsageError } from '../command-line/usage-error.js'
import { REDIS_FILE } from '../start/data-dir.js'

/** What a command of an operator works with; `close` ends it. */
export interface OperatorConnection {
  readonly config: Config
  /** The durable Redis. */
  readonly redis: Redis
  readonly merchants: MerchantStore
  /** With those of the archive, where there is one. */
  readonly payments: PaymentStore
  /** '' without an archive. */
  readonly archiveUrl: string
  close(): Promise<void>
}

/**
 * Connects, by `env` in place of the process's environment if given. The data says which environment it is and how many
 * partitions it has; SERVICE_ENV and PARTITIONS are compared where they are given, and needed where there is no data yet.
 * Rejects with a sentence that says which server did not answer and where its address came from.
 */
export async function connectionOf(env?: NodeJS.ProcessEnv): Promise<OperatorConnection> {
  const address = await addressOf(readConfig(env, 'tools'), isGiven('REDIS_URL', env))
  const log = createLogger('operator', 'silent')
  const redis = await connect(address.url, 'commands', log).catch((error: unknown) => {
    throw new Error(`${messageOf(error)} (The address comes from ${address.origin}.)`)
  })
  const ends = [() => disconnect(redis)]
  const close = async (): Promise<void> => void (await Promise.all(ends.map(async end => await end())))
  try {
    const config = readConfig(env, 'operator', toldBy(await findInstallation(redis)))
    await claimInstallation(redis, config)
    const { archiveTimeoutMs, archiveConnections } = config
    const archiveUrl = config.archiveUrl || address.archiveUrl
    const archive = await openArchive({
      config: { archiveUrl, archiveTimeoutMs, archiveConnections },
      log,
      onStop: (_, stop) => void ends.push(async () => await stop())
    })
    const payments = withArchive(createPaymentStore(redis), archive, { redis })
    return { config, redis, merchants: new MerchantStore(redis, config.environment), payments, archiveUrl, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What the data itself says, in the place of defaults. */
export function toldBy(found: Installation | null): Record<string, string> {
  return found === null ? {} : { SERVICE_ENV: found.environment, PARTITIONS: String(found.partitions) }
}

/** The time by which the workers judge, the test clock included (ms). */
export async function serviceNowMs({ redis, config }: Pick<OperatorConnection, 'redis' | 'config'>): Promise<number> {
  return Date.now() + (config.environment === 'test' ? await readClockOffset(redis) : 0)
}

/** The subject of a verb about one payment, which `paymentOf` reads. */
export const PAYMENT = ['payment', 'id of the payment'] as const

/** The payment that an operator names. Throws `UsageError` for what is no id, and `Error` when there is no such payment. */
export async function paymentOf({ payments, config }: OperatorConnection, given: string): Promise<Payment> {
  const id = given.toLowerCase()
  if (!isUuid(id)) throw new UsageError(`"${given}" is not the id of a payment, which is a UUID`)
  const partition = partitionOfPayment(id)
  const payment = partition < config.partitions ? await payments.load(partition, paymentKeyOf(id)) : null
  if (payment === null) throw new Error(`There is no payment ${id} in this installation.`)
  return payment
}

/** The address, and where it was found; the archive beside it, '' without one. */
export async function addressOf(
  config: Pick<Config, 'redisUrl' | 'dataDir'>,
  isUrlGiven: boolean
): Promise<{ url: string; origin: string; archiveUrl: string }> {
  if (isUrlGiven) return { url: config.redisUrl, origin: 'REDIS_URL', archiveUrl: '' }
  const file = join(config.dataDir, REDIS_FILE)
  const content = await readFile(file, 'utf8').catch(() => null)
  if (content === null) {
    const origin = `the default: REDIS_URL is not set, and \`npm start\` has not written ${file}`
    return { url: config.redisUrl, origin, archiveUrl: '' }
  }
  return { ...readAddresses(content, file), origin: `${file}, which \`npm start\` writes` }
}

function readAddresses(content: string, file: string): { url: string; archiveUrl: string } {
  try {
    const { redis_url: url, archive_url: archiveUrl }: Record<string, unknown> = JSON.parse(content)
    if (typeof url === 'string') return { url, archiveUrl: typeof archiveUrl === 'string' ? archiveUrl : '' }
  } catch {
    // Printed below, in the words of an operator.
  }
  throw new Error(`${file} cannot be read. Run \`npm start\` again, which writes it, or set REDIS_URL.`)
}
