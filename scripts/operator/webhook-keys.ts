/** `webhook-keys init|rotate`: the keys that signing secrets of webhooks are derived from, on the machine that holds the file. */
import type { Command } from 'commander'
import { recordNewKey } from '../../redis/operator/key-rotation.js'
import type { Config } from '../../runtime/config.js'
import { addKey, type WebhookKeyFile, webhookKeyFileIn } from '../../vault/key-files.js'
import { withKeyLock } from '../../vault/key-lock.js'
import { readKeyRing } from '../../vault/key-ring.js'
import { vaultDir } from '../start/environment.js'
import type { OperatorConnection } from './connection.js'
import { addInit, IF_CURRENT, requireOwnRing } from './key-files.js'
import type { Output, VerbMaker } from './verb.js'

export function webhookKeysCommand(program: Command, verb: VerbMaker): void {
  const noun = program
    .command('webhook-keys')
    .description('The keys from which the signing secrets of webhooks are derived.')
  addInit(noun, verb, webhookKeyFileIn)
  verb<{ ifCurrent?: string }>(
    noun.command('rotate'),
    {
      does: 'Add a key for new secrets. Secrets that merchants have stay valid. No process restarts.',
      change: 'can_be_undone'
    },
    (connection, { ifCurrent }) => rotate(connection, ifCurrent)
  ).option(...IF_CURRENT)
}

async function rotate({ redis, config }: OperatorConnection, ifCurrent: string | undefined): Promise<Output> {
  const files = fileOf(config)
  const keyId = await withKeyLock(files, async lock => {
    await requireOwnRing(redis, 'webhook', readKeyRing(files.privateFile, 'webhook'))
    // Recorded before the file has it: a process refuses a key that is not recorded as one of another installation.
    return await addKey(lock, { ifCurrent, announce: id => recordNewKey(redis, 'webhook', id) })
  })
  return {
    json: { key_id: keyId },
    text: `Key ${keyId} is the current one in ${files.privateFile}. New secrets are derived from it; a merchant gets a new one with "rotate_secret". Copy the file to every machine, to \`webhooks\` first.`
  }
}

function fileOf({ webhookKeysFile, dataDir }: Config): WebhookKeyFile {
  return webhookKeysFile === ''
    ? webhookKeyFileIn(vaultDir(dataDir))
    : { privateFile: webhookKeysFile, publicFile: null }
}
