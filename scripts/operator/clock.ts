/** `clock advance|show|reset`: the time of the test environment. */
import type { Command } from 'commander'
import { advanceClock, CLOCK_POLL_MS, readClockOffset, resetClock } from '../../redis/connection/redis-clock.js'
import { systemClock } from '../../runtime/clock.js'
import { delay } from '../../runtime/delay.js'
import type { OperatorConnection } from './connection.js'
import { isoTime } from './output.js'
import { parseSpan } from './periods.js'
import type { Output, VerbMaker } from './verb.js'

/** Longer than the time within which every process reads the new offset. */
const SETTLE_MS = 2 * CLOCK_POLL_MS

export function clockCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('clock').description('The clock of the test environment. The live environment has none.')
  verb(
    noun.command('advance'),
    {
      does: 'Move the clock forward: payments expire, reconciliations come due. Webhooks and tokens keep the real time.',
      subject: ['span', 'how far, such as 30s, 90m, 12h or 7d', parseSpan],
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
  verb(noun.command('show'), { does: 'The time of the clock, and how far it is ahead of the real time.' }, shown)
  verb(
    noun.command('reset'),
    { does: 'Set the clock back to the real time. Past events keep their times.', change: 'can_be_undone' },
    async connection => {
      assertTest(connection)
      await resetClock(connection.redis)
      await delay(SETTLE_MS)
      return await shown(connection)
    }
  )
}

function assertTest({ config }: OperatorConnection): void {
  if (config.environment === 'live') {
    throw new Error('The live environment has no test clock. Nothing was changed.')
  }
}

async function shown({ redis, config }: OperatorConnection): Promise<Output> {
  const offsetMs = config.environment === 'live' ? 0 : await readClockOffset(redis)
  const now = isoTime(systemClock.now() + offsetMs)
  const ahead = offsetMs === 0 ? 'the real time' : `${offsetMs / 1_000} s ahead of the real time`
  return { json: { now, offset_ms: offsetMs }, text: `${now}, ${ahead}` }
}
