/** Settings of the two Redis and of the lock. */
import { anyText, integer, oneOf, redisUrl, redisUrls, setting } from '../setting.js'

export const redisSettings = {
  redisUrl: redisUrl(
    'REDIS_URL',
    ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks', 'archive', 'operator', 'tools'],
    'redis://127.0.0.1:6379',
    'The durable Redis: `redis://`, `redis-sentinel://` or `redis-cluster://`, each also over TLS as `rediss…` (docs/REDIS.md).'
  ),
  secretsRedisUrl: redisUrl(
    'SECRETS_REDIS_URL',
    ['api', 'tokens', 'payments', 'webhooks', 'operator', 'tools'],
    'redis://127.0.0.1:6380',
    'The memory-only Redis: one-use tokens, CVVs and locks. One server or Sentinels, none of which may persist (docs/REDIS.md).'
  ),
  redlockUrls: setting(
    'REDLOCK_URLS',
    ['payments', 'webhooks'],
    '',
    '1, 3 or 5 independent masters for the locks of payments and their webhooks; a majority must grant a lock. Empty: the memory-only Redis.',
    redisUrls,
    'secret'
  ),
  partitions: integer(
    'PARTITIONS',
    ['api', 'notifications', 'payments', 'timers', 'webhooks', 'archive', 'operator'],
    16,
    [1, 4096],
    'Number of partitions; fixed with the first data. `operator` reads it from the data.'
  ),
  installationId: anyText(
    'INSTALLATION_ID',
    ['api', 'tokens', 'notifications', 'payments', 'timers', 'webhooks', 'archive', 'operator'],
    '',
    'Name of this installation, such as `shop-eu`: processes refuse data of another one. Empty: the data gets a random one, and nothing is compared.'
  ),
  waitReplicas: integer(
    'WAIT_REPLICAS',
    ['api', 'notifications', 'payments', 'archive', 'operator'],
    0,
    [0, 8],
    'Replicas that must acknowledge a write before it counts (docs/REDIS.md). 0: none. With Sentinels or a Cluster the default is 1, and live needs a figure.'
  ),
  acceptEverysec: oneOf(
    'ACCEPT_EVERYSEC',
    ['api', 'notifications', 'payments', 'archive', 'operator'],
    ['no', 'yes'],
    'no',
    'Whether `appendfsync everysec` is durable enough (a power loss may lose a second): for /readyz, and for a start in live.'
  )
} as const
