/** `clock advance|show|reset`: the time of the test environment. */
import type { Command } from 'commander'
import { advanceClock, CLOCK_POLL_MS, readClockOffset, resetClock } from '../../redis/connection/redis-clock.js'
import { wakeLeftAhead } from '../../redis/operator/clock-reset.js'
import { systemClock } from '../../runtime/clock.js'
import { delay } from '../../runtime/delay.js'
import type { OperatorConnection } from './connection.js'
import { isoTime } from './output.js'
import { parseSpan } from './periods.js'
import type { Output, VerbMaker } from './verb.js'

/** Longer than the time within which every process reads the new offset. */
const SETTLE_MS = 1.2 * CLOCK_POLL_MS
/** Time for the queries that a reset of the clock makes due, and the pause between two looks at them. */
const WAKE_MS = 20_000
const WAKE_PAUSE_MS = 300

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
    {
      does: 'Set the clock back to the real time. Past events keep their times; queries that were due later run now.',
      change: 'can_be_undone'
    },
    async connection => {
      assertTest(connection)
      await resetClock(connection.redis)
      await delay(SETTLE_MS)
      await wakeUntilNoneIsAhead(connection)
      return await shown(connection)
    }
  )
}

/** Each query may lead to another one that is ahead. What the network does not answer in this time waits for its time. */
async function wakeUntilNoneIsAhead({ redis, payments, config }: OperatorConnection): Promise<void> {
  const deadlineMs = performance.now() + WAKE_MS
  const wake = (): Promise<number> => wakeLeftAhead(redis, payments, config.partitions, systemClock.now())
  while ((await wake()) > 0 && performance.now() < deadlineMs) await delay(WAKE_PAUSE_MS)
}

function assertTest({ config }: OperatorConnection): void {
  if (config.environment === 'live') {
    throw new Error('The live environment has no test clock. Nothing was changed.')
  }
}

async function shown({ redis, config }: OperatorConnection): Promise<Output> {
  const offsetMs = await readClockOffset(redis, config.environment)
  const now = isoTime(systemClock.now() + offsetMs)
  const ahead = offsetMs === 0 ? 'the real time' : `${offsetMs / 1_000} s ahead of the real time`
  return { json: { now, offset_ms: offsetMs }, text: `${now}, ${ahead}` }
}
