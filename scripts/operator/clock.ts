/** `clock advance|show|reset`: the time of the test environment. */
import { Command } from 'commander'
import { advanceClock, CLOCK_POLL_MS, readClockOffset, resetClock } from '../../redis/connection/redis-clock.js'
import { systemClock } from '../../runtime/clock.js'
import { delay } from '../../runtime/delay.js'
import { type ActionMaker, type Output, subjectOf } from './action.js'
import type { OperatorConnection } from './connection.js'
import { parseSpan } from './span.js'

/** Until every process that follows it has looked for the new offset, and some. */
const SETTLE_MS = 2 * CLOCK_POLL_MS

export function clockCommand(action: ActionMaker): Command {
  const noun = new Command('clock').description('The time of the test environment (not there in live).')
  noun
    .command('advance')
    .description(
      'Move it forward, such as 7d, 90m or 30s: payments expire, questions come due. Webhooks and tokens keep the real time.'
    )
    .argument('[span]', 'a number and s, m, h or d')
    .option('--span <span>', 'the same, as an option')
    .option('--json', 'print JSON')
    .action(
      action<{ span?: string }>(async (connection, options, args) => {
        const byMs = parseSpan(subjectOf(args, options.span, 'span'))
        assertTest(connection)
        await advanceClock(connection.redis, byMs)
        await delay(SETTLE_MS)
        return await shown(connection)
      })
    )
  noun
    .command('show')
    .description('What time it is there, and how far it is ahead.')
    .option('--json', 'print JSON')
    .action(action(connection => shown(connection)))
  noun
    .command('reset')
    .description('Back to the real time. What has happened keeps its times.')
    .option('--json', 'print JSON')
    .action(
      action(async connection => {
        assertTest(connection)
        await resetClock(connection.redis)
        await delay(SETTLE_MS)
        return await shown(connection)
      })
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
