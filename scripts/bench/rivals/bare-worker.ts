/** Worker of rival (a): XREADGROUP -> HSET, PUBLISH, XACK. */
import { Redis } from 'ioredis'

const [redisUrl = ''] = process.argv.slice(2)
const redis = new Redis(redisUrl)
const blocking = new Redis(redisUrl)
await redis.xgroup('CREATE', 'bare', 'workers', '0', 'MKSTREAM').catch(() => undefined)
process.stdout.write('ready\n')

for (;;) {
  const reply = await blocking.xreadgroup('GROUP', 'workers', 'w', 'COUNT', 256, 'BLOCK', 1_000, 'STREAMS', 'bare', '>')
  for (const [, entries] of reply ?? []) {
    for (const [entryId, fields] of entries) {
      const [, id = '', , channel = '', , body = ''] = fields ?? []
      void redis.multi().hset(`bare:${id}`, 'body', body).publish(channel, id).xack('bare', 'workers', entryId).exec()
    }
  }
}
