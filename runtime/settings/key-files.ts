/**
 * Which process needs which key files. No other process should even learn where they are: `payments` alone opens card
 * data (invariant 7), `api` shows signing secrets, `webhooks` signs.
 */
const variables = ['VAULT_PUBLIC_KEYS_FILE', 'VAULT_PRIVATE_KEYS_FILE', 'WEBHOOK_KEYS_FILE'] as const

const needs: Readonly<Record<string, readonly (typeof variables)[number][]>> = {
  api: ['VAULT_PUBLIC_KEYS_FILE', 'WEBHOOK_KEYS_FILE'],
  tokens: ['VAULT_PUBLIC_KEYS_FILE'],
  payments: ['VAULT_PRIVATE_KEYS_FILE'],
  webhooks: ['WEBHOOK_KEYS_FILE']
}

/** The variables that name the key files of a process; none for a process that works without. */
export function keyFilesOf(processName: string): readonly string[] {
  return needs[processName] ?? []
}

/** The variables that name key files with secrets; the others are public. */
export const secretKeyFiles: readonly string[] = ['VAULT_PRIVATE_KEYS_FILE', 'WEBHOOK_KEYS_FILE']

/** The variables that a supervisor keeps from a process. */
export function keyFilesKeptFrom(processName: string): readonly string[] {
  return variables.filter(variable => !keyFilesOf(processName).includes(variable))
}
