/**
 * Rival (a): the least that an API, a stream and a worker can be. koa + koa-body + XADD, and the reply of
 * bare-worker.ts by pub/sub. No authentication, no rules, no lock, no network: the ceiling of this architecture.
 */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import Koa from 'koa'
import { koaBody } from 'koa-body'

const [redisUrl = '', port = '0'] = process.argv.slice(2)
const redis = new Redis(redisUrl)
const subscriber = new Redis(redisUrl)
const channel = `bare:${process.pid}`
const waiting = new Map<string, () => void>()
subscriber.on('message', (_, id: string) => waiting.get(id)?.())
await subscriber.subscribe(channel)

const app = new Koa()
app.use(koaBody())
app.use(async ctx => {
  const id = randomUUID()
  const done = new Promise<void>(resolve => waiting.set(id, resolve))
  await redis.xadd('bare', '*', 'id', id, 'channel', channel, 'body', JSON.stringify(ctx.request.body))
  await done
  waiting.delete(id)
  ctx.status = 201
  ctx.body = { id, status: 'done' }
})
const server = app.listen(Number(port), '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : port}\n`)
})
