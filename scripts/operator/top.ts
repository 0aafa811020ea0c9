/** `top`: rates, queues and the state of the processes, in a terminal. */
import type { Command } from 'commander'
import { queueStatus } from '../../redis/commands/queue-status.js'
import { livingConsumers } from '../../redis/commands/takeover.js'
import { listReviews } from '../../redis/operator/review.js'
import { delay } from '../../runtime/delay.js'
import { wholeNumber } from '../command-line/values.js'
import { type OperatorConnection, serviceNowMs } from './connection.js'
import { addOpsOptions, askProcesses, type OpsOptions, opsAddresses, type SeenProcess } from './processes.js'
import { sumOf } from './queue.js'
import { type Flow, flowOf, type Look, lookAt, perSecondOf } from './top/figures.js'
import { type Overview, screenOf } from './top/screen.js'
import { CLEARED, type OperatorWorld, type Output, type VerbMaker } from './verb.js'

const EVERY_S_DEFAULT = 2

interface TopOptions extends OpsOptions {
  readonly every: number
  readonly json?: boolean
}

export function topCommand(program: Command, verb: VerbMaker): void {
  const command = verb<TopOptions>(
    program.command('top'),
    { does: 'Rates, queues and processes, refreshed until Ctrl-C. Without a terminal, or with --json: once.' },
    top
  )
  addOpsOptions(command).option('--every <seconds>', 'time between two screens', wholeNumber(1, 3_600), EVERY_S_DEFAULT)
}

async function top(
  connection: OperatorConnection,
  { every, json = false, ...options }: TopOptions,
  _: string,
  { terminal }: OperatorWorld
): Promise<Output> {
  const addresses = await opsAddresses(options, connection.config.dataDir)
  let before = await lookAtAll(addresses)
  const next = async (): Promise<Overview> => {
    await delay(every * 1_000)
    const after = await lookAtAll(addresses)
    const flows = flowsOf(before, after)
    before = after
    const silent = after.silent.map(({ url }) => ({ name: url, state: 'NO ANSWER' }))
    return { ...(await waitingWork(connection)), flows, processes: [...after.seen.map(stateOf), ...silent] }
  }
  if (terminal !== undefined && !json) return { json: null, text: screens(next) }
  const overview = await next()
  return { json: overview, text: screenOf(overview) }
}

async function* screens(next: () => Promise<Overview>): AsyncGenerator<string> {
  for (;;) yield `${CLEARED}${screenOf(await next())}\n`
}

async function lookAtAll(addresses: readonly string[]) {
  const answers = await askProcesses(addresses)
  return { ...answers, ...lookAt(performance.now(), answers.seen) }
}

async function waitingWork(connection: OperatorConnection): Promise<Omit<Overview, 'flows' | 'processes'>> {
  const { redis, config } = connection
  const nowMs = await serviceNowMs(connection)
  const total = sumOf(await queueStatus(redis, config.partitions, nowMs))
  const review = await listReviews(redis, config.partitions)
  return {
    at: new Date(nowMs).toISOString(),
    environment: config.environment,
    waiting: total.length - total.pending,
    in_work: total.pending,
    oldest_ms: total.oldestAgeMs,
    wake_ups_due: total.due,
    to_reconcile: total.reconcileDue,
    dead_letters: total.deadLetters,
    in_doubt: total.inDoubt,
    workers: (await livingConsumers(redis, config.takeoverAfterMs)).size,
    review: review.map(({ paymentId, reason }) => ({ payment_id: paymentId, reason }))
  }
}

function flowsOf(before: Look, after: Look): Record<string, Flow> {
  const requests = 'http_request_duration_seconds'
  const counted = (counter: string, labels: Record<string, RegExp>): Flow => {
    return { perSecond: perSecondOf(before, after, counter, labels), p50Ms: null, p99Ms: null }
  }
  return {
    creates: flowOf(before, after, requests, { method: /^POST$/, route: /^\/v1\/payments$/ }),
    'all requests': flowOf(before, after, requests, {}),
    'answers 5xx': counted(`${requests}_count`, { status: /^5/ }),
    'commits to Redis': flowOf(before, after, 'commit_seconds', {}),
    'calls to the network': flowOf(before, after, 'network_call_seconds', {}),
    'of these without answer': counted('network_call_seconds_count', { outcome: /^(ambiguous|not_sent|no_answer)$/ }),
    'webhook attempts': flowOf(before, after, 'webhook_attempt_seconds', {})
  }
}

function stateOf({ name, problems, warnings }: SeenProcess): { name: string; state: string } {
  const [problem] = Object.keys(problems)
  const [warning] = Object.keys(warnings)
  if (problem !== undefined) return { name, state: `PROBLEM ${problem}` }
  return { name, state: warning === undefined ? 'ready' : `WARNING ${warning}` }
}
