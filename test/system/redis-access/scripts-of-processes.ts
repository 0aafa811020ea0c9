/** Which scripts a process can run: those of the files that its entry file imports. */
import { readFileSync } from 'node:fs'
import type { Redis } from '../../../redis/connection/connections.js'
import type { ScriptName } from '../../../redis/script-names.js'
import { defineScript } from '../../../redis/scripts.js'
import { filesBelow, targetOf } from '../../tidy/sources.js'

/** Of each process that runs scripts. */
export const entryFiles: Readonly<Record<string, string>> = {
  api: 'api/api.ts',
  tokens: 'api/tokens.ts',
  notifications: 'api/notifications.ts',
  payments: 'workers/payments.ts',
  timers: 'workers/timers.ts',
  webhooks: 'workers/webhooks.ts',
  archive: 'workers/archive.ts'
}

/** Scripts that a process imports with a store, and never runs. */
export const imported: Readonly<Record<string, readonly string[]>> = {
  api: ['remove_payments', 'set_vouch'],
  tokens: ['claim_tokens', 'release_token'],
  notifications: ['drop_notification', 'take_notifications'],
  payments: [
    ...['accept_operation', 'accept_payment', 'drop_consumer', 'list_payments', 'note_notification'],
    ...['remove_payments', 'store_card']
  ],
  timers: ['conclude_webhook', 'dead_letter', 'dead_letter_entry', 'release_command', 'replace_record'],
  webhooks: ['dead_letter', 'drop_consumer', 'fire_webhooks', 'release_command', 'replace_record'],
  archive: ['accept_operation', 'accept_payment', 'restore_payment']
}

/** What a file takes from another one of ours, types apart. */
const IMPORTS = /^(?:import|export) (?!type )[^'"]*?from '(\.[^']+)'/gm
const SCRIPTS = /define(?:Named|Batch)?Script(?:<[^(]*>)?\('(\w+)'\)/g

const texts: ReadonlyMap<string, string> = new Map(
  ['api', 'workers', 'archive', 'redis', 'machines', 'contract', 'runtime', 'vault']
    .flatMap(folder => filesBelow(folder, '.ts'))
    .map(path => [path, readFileSync(path, 'utf8')])
)

export function scriptsOf(process: string): ScriptName[] {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    const text = texts.get(path)
    if (text === undefined || reached.has(path)) return
    reached.add(path)
    for (const [, specifier = ''] of text.matchAll(IMPORTS)) visit(targetOf(path, specifier))
  }
  visit(entryFiles[process] ?? '')
  const names = [...reached].flatMap(path => [...(texts.get(path) ?? '').matchAll(SCRIPTS)].map(([, name]) => name))
  return (names as ScriptName[]).sort()
}

/** The name by which a server knows a script. */
export async function hashOf(name: ScriptName): Promise<string> {
  let found = ''
  const server = {
    evalsha: async (hash: string) => {
      found = hash
    }
  }
  await defineScript(name)(server as unknown as Redis, [], [])
  return found
}
