/** Worker of rival (b): an empty job. */
import { Worker } from 'bullmq'

const [redisUrl = ''] = process.argv.slice(2)
const { hostname, port } = new URL(redisUrl)
const worker = new Worker('empty', async () => null, {
  connection: { host: hostname, port: Number(port) },
  concurrency: 256
})
await worker.waitUntilReady()
process.stdout.write('ready\n')
