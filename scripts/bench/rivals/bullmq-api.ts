/** Rival (b): BullMQ behind koa, as its users await a result: `add` and `waitUntilFinished` of an empty job. */
import { Queue, QueueEvents } from 'bullmq'
import Koa from 'koa'
import { koaBody } from 'koa-body'

const [redisUrl = '', port = '0'] = process.argv.slice(2)
const { hostname, port: redisPort } = new URL(redisUrl)
const connection = { host: hostname, port: Number(redisPort) }
const queue = new Queue('empty', { connection })
queue.setMaxListeners(0)
const events = new QueueEvents('empty', { connection })
events.setMaxListeners(0)
await events.waitUntilReady()

const app = new Koa()
app.use(koaBody())
app.use(async ctx => {
  const job = await queue.add('pay', ctx.request.body, { removeOnComplete: { count: 1_000 } })
  await job.waitUntilFinished(events)
  ctx.status = 201
  ctx.body = { id: job.id, status: 'done' }
})
const server = app.listen(Number(port), '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : port}\n`)
})
