/** Settings of the two Redis and of the lock. */
import { integer, list, oneOf, text } from '../setting.js'

export const redisSettings = {
  redisUrl: text(
    'REDIS_URL',
    'redis://127.0.0.1:6379',
    'The durable Redis: `redis://`, `redis-sentinel://` or `redis-cluster://`, each also over TLS as `rediss…` (docs/REDIS.md).'
  ),
  secretsRedisUrl: text(
    'SECRETS_REDIS_URL',
    'redis://127.0.0.1:6380',
    'The memory-only Redis: one-use tokens and CVVs. Must not persist.'
  ),
  redlockUrls: list(
    'REDLOCK_URLS',
    '',
    '1, 3 or 5 independent masters for the payment lock; a majority must answer. Empty: the memory-only Redis.'
  ),
  partitions: integer('PARTITIONS', 16, [1, 4096], 'Number of partitions; fixed when the data is born.'),
  waitReplicas: integer(
    'WAIT_REPLICAS',
    0,
    [0, 8],
    'Replicas that must have a write before it counts (docs/REDIS.md). 0: none.'
  ),
  acceptEverysec: oneOf(
    'ACCEPT_EVERYSEC',
    ['no', 'yes'],
    'no',
    'Whether `appendfsync everysec` is durable enough (a power loss may lose a second): for /readyz, and for a start in live.'
  )
} as const
