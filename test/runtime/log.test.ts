import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { createLogger, logWhatLibrariesPrint, warnRateLimited } from '../../runtime/log.js'
import { writingTo } from '../support/log-lines.js'
import { useRedis } from '../support/redis.js'

describe('log', () => {
  const test = useRedis()

  /** What a logger writes when `write` uses it. */
  function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
    const lines: string[] = []
    write(createLogger('test', 'debug', writingTo(lines)))
    return lines.join('')
  }

  it('has process and version in each line', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(JSON.parse(logged(log => log.info('started')))).to.include({ process: 'test', pid: process.pid, version })
  })

  it('has no character in it that commands a terminal, and says the same as JSON', () => {
    const line = logged(log => log.warn({ origin: 'https://x\x9b2J\u202e' }, 'seen'))
    expect(line).to.match(/^[\x20-\x7e]+\n$/)
    expect(JSON.parse(line)).to.include({ origin: 'https://x\x9b2J\u202e' })
  })

  it('has type, message, stack and code of an error', () => {
    const cause = new Error('the socket is gone')
    const error = Object.assign(new TypeError('nothing was read', { cause }), { code: 'ECONNRESET' })
    const line = JSON.parse(logged(log => log.error({ err: error }, 'reading failed')))
    expect(line.err).to.include({ type: 'TypeError', code: 'ECONNRESET' })
    expect(line.err.message).to.contain('nothing was read').and.contain('the socket is gone')
    expect(line.err.stack).to.contain('log.test')
  })

  it('leaves out the arguments of a failed Redis command', async () => {
    await test.secrets.set('text', 'no hash')
    const error: unknown = await test.secrets.hset('text', 'cvv', 'sealed-canary').catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Error).and.to.have.nested.property('command.args').that.includes('sealed-canary')
    expect(logged(log => log.error({ err: error }, 'Redis refused')))
      .to.contain('WRONGTYPE')
      .and.not.contain('canary')
  })

  it('logs what a library prints', () => {
    const own = { ...console }
    const line = logged(log => {
      logWhatLibrariesPrint(log)
      const { error } = console
      error('[library] went wrong:', 'in two\nlines')
      Object.assign(console, own)
    })
    expect(JSON.parse(line)).to.include({ level: 'warn', printed: '[library] went wrong: in two\nlines' })
  })

  it('rate-limits a warning, and counts the suppressed ones', async () => {
    const gap = 20
    const lines = logged(log => {
      for (const id of [1, 2, 3]) warnRateLimited(log, { id }, 'a server is away', gap)
      warnRateLimited(log, {}, 'another matter', gap)
      const sinceMs = performance.now()
      while (performance.now() < sinceMs + gap);
      warnRateLimited(log, { id: 4 }, 'a server is away', gap)
    })
    const told = lines
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(told.map(({ level, id, left_out }) => [level, id, left_out])).to.deep.equal([
      ['warn', 1, undefined],
      ['debug', 2, undefined],
      ['debug', 3, undefined],
      ['warn', undefined, undefined],
      ['warn', 4, 2]
    ])
  })

  it('hides secrets that were passed by mistake', () => {
    const request = { headers: { authorization: 'Bearer canary' }, cvv: 'canary', card_number: 'canary' }
    expect(logged(log => log.info({ request, cvv: 'canary' }, 'request'))).not.to.contain('canary')
  })
})
