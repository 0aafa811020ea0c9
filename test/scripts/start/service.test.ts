import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { prepareFor, readDemo } from '../../../scripts/start/demo.js'
import { type OutputOptions, prefixedOutput } from '../../../scripts/start/output.js'
import { freePort } from '../../../scripts/start/ports.js'
import { parseProcfile, planInstances } from '../../../scripts/start/procfile.js'
import { type RunningService, Service } from '../../../scripts/start/service.js'
import { until } from '../../support/conditions.js'
import { pidsWith } from '../../support/processes.js'

describe('service on one machine', () => {
  let dir = ''
  let output = ''
  const started: Service[] = []

  const tiny = (name: string, mode = 'live'): string =>
    `${name}: exec node dist/test/support/tiny-process.js ${name} ${mode} ${dir}\n`
  const serviceOf = (procfile: string, scale: string[] = [], extra: NodeJS.ProcessEnv = {}): Service => {
    const ports = { PORT: '0', TOKENS_PORT: '0', NETWORK_PORT: '0', NOTIFICATIONS_PORT: '0' }
    const env = { PATH: process.env['PATH'], SERVICE_ENV: 'test', DATA_DIR: dir, ...ports, ...extra }
    const write = (text: string): void => {
      output += text
    }
    const service = new Service({
      root: process.cwd(),
      procfile,
      scale,
      env,
      output: { isColoured: false },
      write,
      prepare: prepareFor(env)
    })
    started.push(service)
    return service
  }
  const environmentAt = async (url: string | null): Promise<Record<string, string>> =>
    (await (await fetch(String(url))).json()) as Record<string, string>
  const pidOf = (service: Service, name: string): number | undefined =>
    service.processes.find(process => process.name === name)?.pid

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'payments-service-'))
    output = ''
  })
  afterEach(async () => {
    await Promise.all(started.splice(0).map(service => service.stop()))
    expect(pidsWith(dir), 'processes left over').to.deep.equal([])
    await rm(dir, { recursive: true, force: true })
  })

  it('runs the requested instances, each on its own port', async () => {
    const service = serviceOf(tiny('api') + tiny('payments'), ['api=2', 'payments=3'])
    const { ports } = await service.start()
    const names = service.processes.map(process => process.name)
    expect(names.filter(name => name.startsWith('payments.'))).to.have.length(3)
    const [first, second] = [ports.get('api.1')?.port, ports.get('api.2')?.port]
    expect(first).not.to.equal(second)
    expect((await environmentAt(`http://127.0.0.1:${second}`))['PORT']).to.equal(String(second))
  })

  it('restarts a killed process, and a killed Redis with the same data', async () => {
    const service = serviceOf(tiny('api'))
    const { urls } = await service.start()
    for (const name of ['api.1', 'redis']) {
      const before = pidOf(service, name)
      service.processes.find(process => process.name === name)?.signal('SIGKILL')
      await until(`${name} has another pid`, () => ![undefined, before].includes(pidOf(service, name)))
    }
    await until('api answers again', () => environmentAt(urls.base_url).catch(() => undefined))
    expect(output).to.match(/api\.1 ended by SIGKILL; it is started again in 100 ms/)
  })

  it('gives up with the reason when a process cannot start, and leaves nothing running', async () => {
    const service = serviceOf(tiny('api') + tiny('payments', 'crash'))
    const error = await service.start().catch((reason: unknown) => reason)
    expect(String(error)).to.contain('payments.1 ended with exit code 3 before it was ready (3 times)')
    expect(output).to.contain('payments.1    | about to crash')
    expect(pidsWith(dir)).to.deep.equal([])
  })

  it('gives up at once on a wrong configuration, naming every variable', async () => {
    const error = await serviceOf(tiny('api'), [], { PARTITIONS: 'many', RESULT_WAIT_MS: '-1' })
      .start()
      .catch((reason: unknown) => reason)
    expect(String(error)).to.match(/PARTITIONS="many"[\s\S]*RESULT_WAIT_MS="-1"/)
  })

  it('refuses a data directory that another start uses, and disturbs nothing', async () => {
    const first = serviceOf(tiny('api'))
    const { urls } = await first.start()
    const error = await serviceOf(tiny('api'))
      .start()
      .catch((reason: unknown) => reason)
    expect(String(error)).to.contain(`Another npm start (pid ${process.pid}) uses the data in ${dir}`)
    expect(await environmentAt(urls.base_url)).to.be.an('object')
  })

  it('keeps the demo merchant and the Redis port from start to start', async () => {
    const runs: { demo: unknown; redis: RunningService['redis'] }[] = []
    for (let run = 0; run < 2; run++) {
      const service = serviceOf(tiny('payments'))
      const { redis } = await service.start()
      runs.push({ demo: await readDemo(dir), redis })
      await service.stop()
    }
    expect(runs[0]).to.deep.equal(runs[1])
    expect((await stat(join(dir, 'demo.json'))).mode & 0o777).to.equal(0o600)
    expect(JSON.parse(await readFile(join(dir, 'redis.json'), 'utf8'))).to.have.keys('redis_url', 'secrets_redis_url')
  })

  it('leaves a process the port that Redis had in the last start', async () => {
    const port = await freePort()
    await writeFile(join(dir, 'redis.json'), JSON.stringify({ redis_url: `redis://127.0.0.1:${port}` }))
    const { redis, ports } = await serviceOf(tiny('api'), [], { PORT: String(port) }).start()
    expect(ports.get('api.1')?.port).to.equal(port)
    expect(redis.redisUrl).not.to.contain(`:${port}`)
  })

  it('starts no Redis where files name both, and passes on the files alone', async () => {
    const { redis } = await serviceOf(tiny('payments')).start()
    const files = { REDIS_URL_FILE: join(dir, 'durable'), SECRETS_REDIS_URL_FILE: join(dir, 'memory-only') }
    await writeFile(files.REDIS_URL_FILE, redis.redisUrl)
    await writeFile(files.SECRETS_REDIS_URL_FILE, redis.secretsRedisUrl)
    const second = serviceOf(tiny('api'), [], { DATA_DIR: join(dir, 'second'), ...files })
    const running = await second.start()
    expect(running.redis).to.deep.equal(redis)
    expect(second.processes.map(({ name }) => name)).to.deep.equal(['api.1'])
    expect(await environmentAt(running.urls.base_url))
      .to.include(files)
      .and.not.to.have.property('REDIS_URL')
  })

  it('passes the private keys to payments only, and the public ones to the sealers only', async () => {
    const service = serviceOf(tiny('api') + tiny('tokens'))
    const { urls } = await service.start()
    for (const url of [urls.base_url, urls.tokens_url]) {
      const environment = await environmentAt(url)
      expect(environment).to.have.property('VAULT_PUBLIC_KEYS_FILE')
      expect(environment).not.to.have.property('VAULT_PRIVATE_KEYS_FILE')
    }
  })

  it('stops during a start', async () => {
    const service = serviceOf(tiny('api'))
    const start = service.start().catch((reason: unknown) => reason)
    await until('a process runs', () => service.processes.length > 0)
    await service.stop()
    expect(String(await start)).to.contain('interrupted')
  })

  describe('for the process archive', () => {
    it('has a PostgreSQL when it runs, and from then on without it', async () => {
      const urls: string[] = []
      for (const scale of [['archive=1'], []]) {
        const service = serviceOf(tiny('api') + tiny('archive'), scale)
        const { redis, urls: places } = await service.start()
        urls.push(redis.archiveUrl ?? '', (await environmentAt(places.base_url))['ARCHIVE_URL'] ?? '')
        expect(service.processes.map(({ name }) => name)).to.include('postgres')
        await service.stop()
      }
      expect(urls[0]).to.match(/^postgres:/)
      expect(new Set(urls)).to.have.property('size', 1)
    })

    it('has no PostgreSQL when it does not run, or where ARCHIVE_URL names one', async () => {
      const archiveUrl = 'postgres://127.0.0.1:1/archive'
      const runs = [
        serviceOf(tiny('api') + tiny('archive')),
        serviceOf(tiny('api') + tiny('archive'), ['archive=1'], { ARCHIVE_URL: archiveUrl })
      ]
      const given: unknown[] = []
      for (const service of runs) {
        const { urls } = await service.start()
        given.push((await environmentAt(urls.base_url))['ARCHIVE_URL'])
        expect(service.processes.map(({ name }) => name)).not.to.include('postgres')
        await service.stop()
      }
      expect(given).to.deep.equal([undefined, archiveUrl])
    })
  })
})

const entries = parseProcfile('api: exec node api.js\npayments: exec node payments.js --a=b:c\n\n# a remark\n')
const plan = (...scale: string[]): string[] =>
  planInstances(entries, scale).map(({ name, instance }) => `${name}.${instance}`)

describe('Procfile', () => {
  it('reads one process a line, and ignores empty lines and comments', () => {
    expect(entries).to.deep.equal([
      { name: 'api', command: 'exec node api.js' },
      { name: 'payments', command: 'exec node payments.js --a=b:c' }
    ])
  })

  it('names every bad line at once', () => {
    expect(() => parseProcfile('api exec node\na: x\na: y\nb:\n')).to.throw(/line 1 [\s\S]*line 3 [\s\S]*line 4 /)
  })

  it('of this project replaces the shell in each line, so that signals reach the process', () => {
    for (const { command } of parseProcfile(readFileSync('Procfile', 'utf8'))) expect(command).to.match(/^exec node /)
  })

  it('runs one of each process by default, and as many as the arguments say', () => {
    expect(plan()).to.deep.equal(['api.1', 'payments.1'])
    expect(plan('payments=3', 'api=0')).to.deep.equal(['payments.1', 'payments.2', 'payments.3'])
  })

  it('refuses all invalid arguments at once', () => {
    expect(() => plan('payments', 'unknown=2', 'api=65', 'api=-1')).to.throw(
      /payments: [\s\S]*unknown=2: the Procfile has api, payments[\s\S]*api=65: at most 64[\s\S]*api=-1: /
    )
  })

  it('runs at most one simulator, because it has one ledger', () => {
    expect(() => planInstances(parseProcfile('network: x'), ['network=2'])).to.throw(/one ledger/)
  })
})

function collect(options: OutputOptions): { sinkOf: ReturnType<typeof prefixedOutput>; written: string[] } {
  const written: string[] = []
  return { sinkOf: prefixedOutput(['api.1', 'payments.1'], options, text => written.push(text)), written }
}

describe('output of npm start', () => {
  it('puts the name of its process in front of each line, in one column', () => {
    const { sinkOf, written } = collect({ isColoured: false })
    sinkOf('api.1')('one\ntwo\n')
    sinkOf('payments.1')('three\n')
    expect(written.join('')).to.equal('api.1      | one\napi.1      | two\npayments.1 | three\n')
  })

  it('writes whole lines, for pieces of any size', () => {
    const { sinkOf, written } = collect({ isColoured: false })
    const api = sinkOf('api.1')
    api('be')
    sinkOf('payments.1')('between\n')
    api('gun\nnext')
    expect(written).to.deep.equal(['payments.1 | between\n', 'api.1      | begun\n'])
  })

  it('prints lines of a log for people on a terminal, a request as one sentence, and leaves other lines', () => {
    const { sinkOf, written } = collect({ isColoured: false, isReadable: true })
    const line = (fields: object): string => `${JSON.stringify({ level: 'info', pid: 1, process: 'api', ...fields })}\n`
    const request = { method: 'POST', route: '/v1/payments/:id/refund', duration_ms: 12, payment_id: 'a-payment' }
    const api = sinkOf('api.1')
    api(line({ ...request, status: 202, request_id: 'r', msg: 'request answered' }))
    api(line({ ...request, status: 409, code: 'operation_in_progress', msg: 'request answered' }))
    api(line({ port: 3000, msg: 'listening' }))
    api('A sentence.\n')
    expect(written).to.deep.equal([
      'api.1      | INFO: POST /v1/payments/:id/refund 202, 12 ms, payment a-payment\n',
      'api.1      | INFO: POST /v1/payments/:id/refund 409 operation_in_progress, 12 ms, payment a-payment\n',
      'api.1      | INFO: listening {"port":3000}\n',
      'api.1      | A sentence.\n'
    ])
  })
})
