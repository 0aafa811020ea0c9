/** Steps in which one more process is started with something wrong: it must refuse, or tell in /readyz. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import type { Installation } from './installed-service.js'
import { makeKeys } from './process-settings.js'
import type { Seen, Step } from './step.js'
import { type Fault, tryOut } from './try-out.js'

/** Beyond the five minutes by which receivers of webhooks accept a signature. */
const CLOCK_OFF_MS = 400_000
const FOREIGN = /another installation/
const EXPECTED = 'it ends at once, or its /readyz says so'

export const wrongEnvironment: Step = {
  name: 'wrong-environment',
  does: 'processes and the operator with SERVICE_ENV=test on live data',
  expects: EXPECTED,
  async run({ installation }) {
    const environment = { SERVICE_ENV: 'test' }
    const seen = await tryAll(
      installation,
      (['payments', 'api', 'timers'] as const).map(process => ({
        process,
        environment,
        names: /environment|SERVICE_ENV/i
      }))
    )
    const refusal = await installation.operator('merchant list', environment).then(() => 'NOT refused', lastSentence)
    return { isOk: seen.isOk && /environment|SERVICE_ENV/i.test(refusal), seen: `${seen.seen}; operator: ${refusal}` }
  }
}

export const foreignKeys: Step = {
  name: 'foreign-keys',
  does: 'processes with the key files of another installation',
  expects: EXPECTED,
  async run({ installation }) {
    const { users, dir, root } = installation
    const { vault, webhookKeysFile } = await makeKeys(root, join(dir, 'foreign'), users)
    return await tryAll(installation, [
      {
        process: 'payments',
        environment: { VAULT_PRIVATE_KEYS_FILE: vault.privateFile },
        names: FOREIGN
      },
      {
        process: 'tokens',
        environment: { VAULT_PUBLIC_KEYS_FILE: vault.publicFile },
        names: FOREIGN
      },
      {
        process: 'webhooks',
        environment: { WEBHOOK_KEYS_FILE: webhookKeysFile },
        names: FOREIGN
      }
    ])
  }
}

export const unreadableKeys: Step = {
  name: 'unreadable-keys',
  does: '`payments` with a key file that it cannot read',
  expects: EXPECTED,
  async run({ installation }) {
    const { users, dir } = installation
    if (process.getuid?.() === 0 && users.reason !== undefined)
      return { skipped: `${users.reason}, and root reads every file` }
    const file = join(dir, 'unreadable.json')
    await writeFile(file, '{}', { mode: 0o000 })
    const environment = { VAULT_PRIVATE_KEYS_FILE: file }
    return await tryAll(installation, [{ process: 'payments', environment, names: /unreadable\.json/ }])
  }
}

export const wrongClock: Step = {
  name: 'wrong-clock',
  does: `processes whose clock is ${CLOCK_OFF_MS / 1_000} s ahead`,
  expects: EXPECTED,
  async run({ installation }) {
    const preload = `${new URL('../chaos/shifted-clock.js', import.meta.url).href}?ms=${CLOCK_OFF_MS}`
    return await tryAll(
      installation,
      (['webhooks', 'payments', 'tokens'] as const).map(process => ({ process, preload, names: /clock/i }))
    )
  }
}

/** All at the same time, while the load runs. */
async function tryAll(installation: Installation, faults: readonly Fault[]): Promise<Seen> {
  const seen = await Promise.all(faults.map(fault => tryOut(installation, fault)))
  const groups = new Map<string, string[]>()
  for (const [index, { process }] of faults.entries()) {
    const words = seen[index]?.seen ?? ''
    groups.set(words, [...(groups.get(words) ?? []), process])
  }
  return {
    isOk: seen.every(({ isOk }) => isOk),
    seen: [...groups].map(([words, processes]) => `${processes.join(', ')}: ${words}`).join('; ')
  }
}

/** What a command complains of, without the command. */
function lastSentence(error: unknown): string {
  return messageOf(error).split('error: ').at(-1) ?? ''
}
