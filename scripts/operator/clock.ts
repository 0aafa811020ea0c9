/** `clock advance|show|reset`: the time of the test environment. */
import { Command } from 'commander'
import { advanceClock, CLOCK_POLL_MS, readClockOffset, resetClock } from '../../redis/connection/redis-clock.js'
import { systemClock } from '../../runtime/clock.js'
import { delay } from '../../runtime/delay.js'
import type { OperatorConnection } from './connection.js'
import { parseSpan } from './span.js'
import type { Output, VerbMaker } from './verb.js'

/** Until every process that follows it has looked for the new offset, and some. */
const SETTLE_MS = 2 * CLOCK_POLL_MS

export function clockCommand(verb: VerbMaker): Command {
  const noun = new Command('clock').description('The time of the test environment (not there in live).')
  verb(
    noun.command('advance'),
    {
      does: 'Move it forward, such as 7d, 90m or 30s: payments expire, reconciliations come due. Webhooks and tokens keep the real time.',
      subject: ['span', 'a number and s, m, h or d'],
      change: 'can_be_undone'
    },
    async (connection, _, span) => {
      const byMs = parseSpan(span)
      assertTest(connection)
      await advanceClock(connection.redis, byMs)
      await delay(SETTLE_MS)
      return await shown(connection)
    }
  )
  verb(noun.command('show'), { does: 'What time it is there, and how far it is ahead.' }, shown)
  verb(
    noun.command('reset'),
    { does: 'Back to the real time. What has happened keeps its times.', change: 'can_be_undone' },
    async connection => {
      assertTest(connection)
      await resetClock(connection.redis)
      await delay(SETTLE_MS)
      return await shown(connection)
    }
  )
  return noun
}

function assertTest({ config }: OperatorConnection): void {
  if (config.environment === 'live') {
    throw new Error('The clock of the live environment is the real one. This is for SERVICE_ENV=test only.')
  }
}

async function shown({ redis, config }: OperatorConnection): Promise<Output> {
  const offsetMs = config.environment === 'live' ? 0 : await readClockOffset(redis)
  const now = new Date(systemClock.now() + offsetMs).toISOString()
  const ahead = offsetMs === 0 ? 'the real time' : `${offsetMs / 1_000} s ahead of the real time`
  return { json: { now, offset_ms: offsetMs }, text: `${now}, ${ahead}` }
}
