import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { openPostgres } from '../../archive/postgres.js'
import { delay } from '../../runtime/delay.js'
import { createLogger } from '../../runtime/log.js'
import { until } from '../support/conditions.js'
import { usePostgres } from '../support/postgres.js'

const FROZEN_MS = 6_000
/** Five seconds of a quiet machine, in each of whose rounds another connection is answered. */
const BACK_WITHIN_ROUNDS = 100
const TIMEOUT_MS = 1_000

/** A pause of its virtual machine or a stalled disk: the kernel keeps its connections, and takes new ones. */
describe('the connections to an archive that is frozen', () => {
  const postgres = usePostgres()

  it('work within 5 s of its return, all of them', async () => {
    const settings = { archiveUrl: postgres.url, archiveTimeoutMs: TIMEOUT_MS }
    const pool = openPostgres(settings, createLogger('test', 'silent'))
    let isBusy = true
    let answered = 0
    const work = async (): Promise<void> => {
      while (isBusy) {
        const answer = await pool.query('SELECT pg_sleep(0.01)').catch(() => undefined)
        if (answer !== undefined) answered++
        else await delay(20)
      }
    }
    const workers = Array.from({ length: 12 }, work)
    await delay(200)
    const pids = await serverPids(await postgres.ask('SELECT pg_backend_pid() AS pid'))
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    try {
      await delay(FROZEN_MS)
    } finally {
      for (const pid of pids.reverse()) process.kill(pid, 'SIGCONT')
    }
    const before = answered
    let rounds = 0
    for (; rounds < BACK_WITHIN_ROUNDS && answered === before; rounds++) {
      await delay(50)
      await postgres.ask('SELECT 1')
    }
    isBusy = false
    await Promise.all(workers)
    expect(rounds).to.be.below(BACK_WITHIN_ROUNDS)
    // As many statements at once as there are connections: none of them is stuck.
    await until('all four connections work', () =>
      Promise.all(Array.from({ length: 4 }, () => pool.query('SELECT pg_sleep(0.2)'))).catch(() => undefined)
    )
    await pool.close()
  })
})

/** Of the whole server: the parent of a connection's process, and all its children. */
async function serverPids([row]: Record<string, unknown>[]): Promise<number[]> {
  const parentOf = (pid: number | string): number => {
    try {
      return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    } catch {
      return 0
    }
  }
  const postmaster = parentOf(Number(row?.['pid']))
  const children = readdirSync('/proc').filter(name => /^\d+$/.test(name) && parentOf(name) === postmaster)
  return [postmaster, ...children.map(Number)]
}
