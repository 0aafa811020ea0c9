/** The durable Redis of a process, and what must be true of it before the process may work with it. */
import { eachSecond } from '../../runtime/each-second.js'
import type { Check } from '../../runtime/health.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { connect, disconnect, type Redis } from '../connection/connections.js'
import { MoneyWaits } from '../connection/redis-errors.js'
import { rejectAsUnreachable } from '../connection/unreachable.js'
import { openWrites, type Writes } from '../connection/writes.js'
import { WRONG_TYPES_FACT, wrongTypeCommands, wrongTypeWarning } from '../connection/wrong-types.js'
import { requireRights } from './acl-rights.js'
import { requireReplay } from './aof-replay-rights.js'
import { requireDurability } from './durability.js'
import { awaitInstallation, changeOf, claimInstallation, type Installation } from './installation.js'
import { unawaitedReplicas, watchReplicas } from './replicas.js'
import { requireCheck } from './require-check.js'
import { versionProblem, writeProblem } from './server-state.js'

/** What a durable Redis that refuses writes means to a process; `unnoticed`: it only reads. */
export type RefusedWrites = 'problem' | 'warning' | 'unnoticed'

/**
 * The durable Redis of a process that confirms writes to others: its connection and its writes, once
 * installation and durability are proved, and each `further` condition. Both are closed at its stop.
 */
export async function openDurable(
  context: ProcessContext,
  further: readonly ((durable: Redis) => Promise<Check>)[] = [],
  refusedWrites: RefusedWrites = 'problem'
): Promise<{
  readonly durable: Redis
  readonly writes: Writes
  /** That of the writes. */
  readonly connection: Redis
  readonly installation: Installation
}> {
  const { config, log, onStop } = context
  const { durable, installation } = await connectDurable(context, refusedWrites)
  const { writes, connection, close } = await openWrites(durable, config, log)
  onStop('durable writes', close)
  const conditions = [...(await requireDurability(durable, context)), () => changeOf(durable, installation.id)]
  for (const require of further) conditions.push(await require(durable))
  if (config.waitReplicas > 0) watchReplicas(durable, context)
  else context.onWarning('replicas', () => unawaitedReplicas(durable))
  return { durable, writes: writesUnless(conditions, writes, context), connection, installation }
}

/**
 * The durable Redis of a process, once it is proved to allow what the process does, to hold the data of this installation
 * and to keep it at a restart; all three are also conditions of /readyz.
 */
export async function connectDurable(
  context: ProcessContext,
  refusedWrites: RefusedWrites = 'problem'
): Promise<{ readonly durable: Redis; readonly installation: Installation }> {
  const { config, log, onStop, onReadyCheck, onFact } = context
  const durable = await connect(config.redisUrl, 'commands', log)
  onStop('durable redis', () => disconnect(durable))
  // Before anything else: an older server refuses commands in the middle of the start, with a syntax error.
  const checkVersion = (): Promise<string | undefined> =>
    versionProblem(durable, 'REDIS_URL').catch(rejectAsUnreachable(durable))
  await requireCheck('version of REDIS_URL', checkVersion, context, true)
  await requireRights(durable, 'REDIS_URL', context)
  const isReader = refusedWrites === 'unnoticed'
  const installation = await (isReader ? awaitInstallation(durable, context) : claimInstallation(durable, config))
  log.info({ environment: installation.environment, installation_id: installation.id }, 'durable data opened')
  onFact('installation', () => installation.id)
  onReadyCheck('installation', () => changeOf(durable, installation.id))
  if (!isReader) {
    const onRefused = refusedWrites === 'problem' ? onReadyCheck : context.onWarning
    onRefused('writes of REDIS_URL', () => writeProblem(durable))
  }
  context.onWarning('types of keys', wrongTypeWarning)
  onFact(WRONG_TYPES_FACT, () => wrongTypeCommands().flat().join(' '))
  await requireReplay(durable, context)
  return { durable, installation }
}

/**
 * The writes of a process, rejected while one of the conditions does not hold: what a start demands of the durable Redis goes
 * on to be demanded. What was written meanwhile could be lost, after its client was told that it is durable.
 */
function writesUnless(
  conditions: readonly Check[],
  writes: Writes,
  { onStop }: Pick<ProcessContext, 'onStop'>
): Writes {
  let problem: string | undefined
  const look = async (): Promise<void> => {
    const found = await Promise.all(conditions.map(condition => condition()))
    problem = found.find(sentence => sentence !== undefined)
  }
  // A server that can't be asked takes no writes either.
  const endLooks = eachSecond(() => void look().catch(() => undefined))
  onStop('conditions of durable writes', endLooks)
  return {
    ...writes,
    run: async (key, work) => {
      if (problem !== undefined) throw new MoneyWaits(problem)
      return await writes.run(key, work)
    }
  }
}
