import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { freePort } from '../../scripts/start/ports.js'
import { until } from '../support/conditions.js'
import { useRedis } from '../support/redis.js'

describe('a process whose connection to Redis does not recover, although a new one works', () => {
  const test = useRedis()

  it('fails /healthz, says why, stops in order and ends with code 1', async () => {
    const opsPort = await freePort()
    const child = spawn(process.execPath, ['dist/test/support/stuck-process.js'], {
      env: { ...process.env, SERVICE_ENV: 'test', REDIS_URL: test.url, OPS_PORT: String(opsPort) },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let output = ''
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString()
    })
    const ended = once(child, 'exit')
    const health = async (): Promise<Response | undefined> =>
      await fetch(`http://127.0.0.1:${opsPort}/healthz`).catch(() => undefined)
    await until('it runs', async () => (await health())?.status === 200)
    const answer = await until('it fails /healthz', async () => {
      const found = await health()
      return found?.status === 503 && found
    })
    const { status, reason } = (await answer.json()) as Record<string, string>
    expect(status).to.equal('cannot recover')
    expect(reason).to.match(/^A connection to the Redis of REDIS_URL \(127.0.0.1:\d+\) has not recovered for 1\d s/)
    expect(await ended).to.deep.equal([1, null])
    expect(output).to.contain('the process cannot recover').and.contain('"msg":"stopped"')
  })
})
