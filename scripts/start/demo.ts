/**
 * What the first start of the test environment creates and later starts reuse: the vault's key files, a demo merchant
 * with its keys, and `DATA_DIR/demo.json`, which scripts and tests read.
 */
import type { Redis } from '../../redis/connection/connections.js'
import { claimInstallation } from '../../redis/installation/installation.js'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { readConfig } from '../../runtime/config.js'
import { ensureKeyFiles, keyFilesIn, webhookKeyFileIn } from '../../vault/key-files.js'
import { readJson, writeJson } from './data-dir.js'
import { type ServiceUrls, vaultDir } from './environment.js'
import { writeTrustedAuthorities } from './loopback-tls.js'
import type { Preparation } from './service.js'
import { withRedis } from './with-redis.js'

/** The content of `DATA_DIR/demo.json`. */
export interface Demo extends ServiceUrls {
  readonly merchant_id: string
  readonly api_key: string
  readonly publishable_key: string
}

const DEMO_FILE = 'demo.json'

/**
 * Refuses data of another installation, then prepares the test environment. In live it creates nothing: the operator
 * makes keys and merchants.
 */
export function prepareFor(env: NodeJS.ProcessEnv): Preparation {
  return async ({ dataDir, redis, urls }) => {
    const config = readConfig(env)
    const keys = await withRedis(redis.redisUrl, async server => {
      await claimInstallation(server, config)
      return config.environment === 'live' ? undefined : await findOrCreateDemo(dataDir, server)
    })
    if (keys === undefined) return { vault: undefined, webhooks: undefined }
    const vault = ensureKeyFiles(keyFilesIn(vaultDir(dataDir)))
    const { privateFile: keysFile } = ensureKeyFiles(webhookKeyFileIn(vaultDir(dataDir)))
    await writeJson(dataDir, DEMO_FILE, { ...urls, ...keys } satisfies Demo)
    const caFile = await writeTrustedAuthorities(dataDir, env['NODE_EXTRA_CA_CERTS'])
    return { vault, webhooks: { keysFile, caFile } }
  }
}

/** Reads what `prepareFor` wrote; undefined before the first start. */
export async function readDemo(dataDir: string): Promise<Demo | undefined> {
  const stored = await readJson(dataDir, DEMO_FILE)
  const keys = storedKeys(stored)
  if (keys === undefined) return undefined
  return {
    base_url: urlOrNull(stored?.['base_url']),
    tokens_url: urlOrNull(stored?.['tokens_url']),
    network_url: urlOrNull(stored?.['network_url']),
    ...keys
  }
}

type DemoKeys = Omit<Demo, keyof ServiceUrls>

async function findOrCreateDemo(dataDir: string, redis: Redis): Promise<DemoKeys> {
  const merchants = new MerchantStore(redis, 'test')
  const stored = storedKeys(await readJson(dataDir, DEMO_FILE))
  // The data may be newer than the file: REDIS_URL can name another server, or an emptied one.
  if (stored !== undefined && (await isKnown(merchants, stored))) return stored
  const { merchantId } = await merchants.createMerchant('Demo merchant')
  const secret = await merchants.createKey({
    merchantId,
    permissions: ['payments:read', 'payments:write', 'cards:write', 'webhooks:write']
  })
  const publishable = await merchants.createKey({ merchantId, permissions: ['tokens:write'], isPublishable: true })
  return { merchant_id: merchantId, api_key: secret.fullKey, publishable_key: publishable.fullKey }
}

async function isKnown(merchants: MerchantStore, stored: DemoKeys): Promise<boolean> {
  const records = await Promise.all(
    [stored.api_key, stored.publishable_key].map(key => merchants.findKey(key.split('.')[1] ?? '', Date.now()))
  )
  return records.every(record => record?.merchantId === stored.merchant_id && !record.isRevoked)
}

function storedKeys(stored: Readonly<Record<string, unknown>> | undefined): DemoKeys | undefined {
  const { merchant_id, api_key, publishable_key } = stored ?? {}
  const isComplete = [merchant_id, api_key, publishable_key].every(value => typeof value === 'string')
  if (!isComplete) return undefined
  return { merchant_id: String(merchant_id), api_key: String(api_key), publishable_key: String(publishable_key) }
}

function urlOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
