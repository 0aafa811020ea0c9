import { expect } from 'chai'
import { growthIn, growthWarning } from '../../../redis/installation/append-only-file.js'
import { useRedis } from '../../support/redis.js'

const infoOf = (figures: Readonly<Record<string, string | number>>): string =>
  ['# Persistence', ...Object.entries(figures).map(([name, value]) => `${name}:${value}`), ''].join('\r\n')
const MB = 1_000_000
const well = { aof_rewrite_in_progress: 0, aof_last_bgrewrite_status: 'ok', aof_base_size: 0, aof_current_size: 0 }

describe('the append-only file', () => {
  const test = useRedis()

  it('causes no warning on a server that rewrites it', async () => {
    const info = await test.redis.info('persistence')
    for (const field of Object.keys(well)) expect(info).to.match(new RegExp(`^${field}:\\S+`, 'm'))
    expect(await growthWarning(test.redis)).to.equal(undefined)
  })

  it('causes a warning when it has grown to three times its size after the last rewrite', () => {
    const grown = (aof_base_size: number, aof_current_size: number): string | undefined =>
      growthIn(infoOf({ ...well, aof_base_size, aof_current_size }), 'redis:6379')
    expect(grown(900 * MB, 2_600 * MB)).to.equal(undefined)
    expect(grown(900 * MB, 2_800 * MB)).to.equal(
      'The append-only file of redis:6379 has 2800 MB, and had 900 MB after its last rewrite. CONFIG SET auto-aof-rewrite-percentage 100, then BGREWRITEAOF.'
    )
    // Redis does not rewrite a small one.
    expect(grown(1, 190 * MB)).to.equal(undefined)
    expect(grown(1, 210 * MB)).to.contain('210 MB')
  })

  it('causes no warning of its size while it is rewritten, and one when that fails', () => {
    const large = { ...well, aof_current_size: 900 * MB }
    expect(growthIn(infoOf({ ...large, aof_rewrite_in_progress: 1 }), 'a')).to.equal(undefined)
    expect(growthIn(infoOf({ ...well, aof_last_bgrewrite_status: 'err' }), 'a')).to.match(/rewrite .* of a failed/)
  })
})
