/** Which Redis an operator means: the one of `REDIS_URL`, or the one that `npm start` runs for this `DATA_DIR`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { archiveOf } from '../../archive/open-archive.js'
import { withArchive } from '../../archive/payment-store.js'
import type { Payment } from '../../machines/model.js'
import { connect, disconnect, type Redis } from '../../redis/connection/connections.js'
import { readClockOffset } from '../../redis/connection/redis-clock.js'
import { unreplicated } from '../../redis/connection/writes.js'
import { claimInstallation, findInstallation, type Installation } from '../../redis/installation/installation.js'
import { partitionOfPayment, paymentKeyOf } from '../../redis/keys.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { createPaymentStore, type PaymentStore } from '../../redis/payments/payments.js'
import { type Config, isGiven, readConfig } from '../../runtime/config.js'
import { createLogger } from '../../runtime/log.js'
import { messageOf } from '../../runtime/message-of.js'
import { isUuid } from '../../runtime/uuid.js'
import { UsageError } from '../command-line/usage-error.js'
import { REDIS_FILE, readJson } from '../start/data-dir.js'

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
 * Connects. `env` replaces the process's environment. The data states its environment and its number of partitions;
 * SERVICE_ENV and PARTITIONS are compared where they are given, and required where there is no data yet. Rejects with a
 * sentence about which server did not answer and where its address was found.
 */
export async function connectionOf(env?: NodeJS.ProcessEnv): Promise<OperatorConnection> {
  const address = await addressesOf(env)
  const log = createLogger('operator', 'silent')
  const redis = await connect(address.url, 'commands', log).catch((error: unknown) => {
    throw new Error(`${messageOf(error)} (The address comes from ${address.origin}.)`)
  })
  try {
    const config = readConfig(env, 'operator', settingsOf(await findInstallation(redis)))
    await claimInstallation(redis, config)
    const archiveUrl = config.archiveUrl || address.archiveUrl
    const archive = await archiveOf({ archiveUrl, archiveTimeoutMs: config.archiveTimeoutMs }, log)
    const writes = unreplicated(redis)
    return {
      config,
      redis,
      merchants: new MerchantStore(redis, config.environment),
      payments: withArchive(createPaymentStore(writes), archive, { writes }),
      archiveUrl,
      close: async () => void (await Promise.all([disconnect(redis), archive?.close()]))
    }
  } catch (error) {
    await disconnect(redis)
    throw error
  }
}

/** Environment and partitions of the data, in place of defaults. */
export function settingsOf(found: Installation | null): Record<string, string> {
  return found === null ? {} : { SERVICE_ENV: found.environment, PARTITIONS: String(found.partitions) }
}

/** The time by which the workers judge, the test clock included (ms). */
export async function serviceNowMs({ redis, config }: Pick<OperatorConnection, 'redis' | 'config'>): Promise<number> {
  return Date.now() + (await readClockOffset(redis, config.environment))
}

/** The subject of a verb about one payment, which `paymentOf` reads. */
export const PAYMENT = ['payment', 'id of the payment', paymentIdIn] as const

/** Throws `UsageError` for what is no id. */
function paymentIdIn(given: string): string {
  const id = given.toLowerCase()
  if (isUuid(id)) return id
  throw new UsageError(`"${given}" is not the id of a payment, which is a UUID. \`payment search\` finds ids.`)
}

/** The payment that an operator names. Throws when there is no such payment. */
export async function paymentOf({ payments, config }: OperatorConnection, given: string): Promise<Payment> {
  const id = paymentIdIn(given)
  const partition = partitionOfPayment(id)
  const payment = partition < config.partitions ? await payments.load(partition, paymentKeyOf(id)) : null
  if (payment === null) throw new Error(`There is no payment ${id} in this installation. \`payment search\` finds ids.`)
  return payment
}

export interface Addresses {
  /** Of the durable Redis. */
  readonly url: string
  /** Where `url` was found. */
  readonly origin: string
  /** Of the memory-only Redis; undefined: not known. */
  readonly secretsUrl: string | undefined
  /** '' without an archive. */
  readonly archiveUrl: string
}

/** The addresses that were given, or those that `npm start` has written into DATA_DIR. */
export async function addressesOf(env?: NodeJS.ProcessEnv): Promise<Addresses> {
  const { redisUrl, secretsRedisUrl, dataDir } = readConfig(env, 'tools')
  const found = {
    url: redisUrl,
    secretsUrl: isGiven('SECRETS_REDIS_URL', env) ? secretsRedisUrl : undefined,
    archiveUrl: ''
  }
  if (isGiven('REDIS_URL', env)) return { ...found, origin: 'REDIS_URL' }
  const file = join(dataDir, REDIS_FILE)
  if (!existsSync(file)) {
    return {
      ...found,
      origin: `the default: REDIS_URL is not set, and \`npm start\` has not written ${file}: set its DATA_DIR`
    }
  }
  const written = await readJson(dataDir, REDIS_FILE)
  const textOf = (name: string): string | undefined => {
    const value = written?.[name]
    return typeof value === 'string' ? value : undefined
  }
  const url = textOf('redis_url')
  if (url === undefined) {
    throw new Error(`${file} cannot be read. Run \`npm start\` again, which writes it, or set REDIS_URL.`)
  }
  return {
    url,
    origin: `${file}, which \`npm start\` writes`,
    secretsUrl: found.secretsUrl ?? textOf('secrets_redis_url'),
    archiveUrl: textOf('archive_url') ?? ''
  }
}
