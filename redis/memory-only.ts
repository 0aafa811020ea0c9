/** The proof, at start and at each /readyz, that card data in flight cannot reach a disk (invariant 7). */
import type { ProcessContext } from '../runtime/lifecycle.js'
import { connect, disconnect, type Redis } from './connections.js'
import { reasonOf } from './errors.js'
import { type Installation, tieMemoryOnly } from './installation.js'
import { requirePermissions } from './permissions.js'

/**
 * The connection of a process to the memory-only Redis, proved now and at each /readyz, and closed at its stop. A token
 * that was made in the test environment is never found in live: the Redis serves one installation.
 */
export async function openMemoryOnly(context: ProcessContext, installation: Installation): Promise<Redis> {
  const { config, log, onStop, onReadyCheck, onWarning } = context
  const secrets = await connect(config.secretsRedisUrl, 'commands', log, 'SECRETS_REDIS_URL')
  onStop('memory-only redis', () => disconnect(secrets))
  await requirePermissions(secrets, 'memoryOnly', context)
  // It forgets what it is tied to when it is restarted, so each look ties it again.
  const prove = async (): Promise<undefined> => {
    await assertMemoryOnly(secrets)
    await tieMemoryOnly(secrets, installation)
  }
  await prove()
  onReadyCheck('memory-only redis', prove)
  // A server that can't be asked is told by the check above.
  onWarning('memory-only redis', () => evictionWarning(secrets).catch(() => undefined))
  return secrets
}

/**
 * Resolves when the Redis keeps nothing on a disk. Rejects with the sentence that names the setting to change: as a
 * readiness check, and to refuse a start.
 */
export async function assertMemoryOnly(redis: Redis): Promise<undefined> {
  const [save, appendOnly] = [await readSetting(redis, 'save'), await readSetting(redis, 'appendonly')]
  const problems = [
    ...(save === '' ? [] : [`it writes snapshots (save "${save}"); set save ""`]),
    ...(appendOnly === 'no' ? [] : [`it writes a log of changes (appendonly ${appendOnly}); set appendonly no`])
  ]
  if (problems.length > 0) {
    throw new Error(`The Redis of SECRETS_REDIS_URL must not persist: ${problems.join('; ')}.`)
  }
  return undefined
}

/** The sentence about a server that drops keys when it is full, or undefined. Rejects when the server can't be asked. */
export async function evictionWarning(redis: Redis): Promise<string | undefined> {
  const policy = await readSetting(redis, 'maxmemory-policy')
  if (policy === 'noeviction') return undefined
  return `The Redis of SECRETS_REDIS_URL may evict one-use tokens, CVVs and locks: maxmemory-policy is ${policy}; set noeviction.`
}

async function readSetting(redis: Redis, name: string): Promise<string> {
  const reply: unknown = await redis.config('GET', name).catch((error: unknown) => {
    throw new Error(
      `The Redis of SECRETS_REDIS_URL did not tell its setting "${name}" (${reasonOf(error)}). It must be up and allow CONFIG GET.`
    )
  })
  const value: unknown = Array.isArray(reply) ? reply[1] : undefined
  if (typeof value !== 'string') throw new Error(`The Redis of SECRETS_REDIS_URL does not know the setting "${name}".`)
  return value
}
