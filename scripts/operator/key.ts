/** `key create|list|revoke` */
import { type Command, InvalidArgumentError } from 'commander'
import { type ApiKey, isKeyExpired, type Permission, permissions } from '../../redis/merchants/merchants.js'
import { UsageError } from '../command-line/usage-error.js'
import { oneLine, time } from '../command-line/values.js'
import { type Field, isoTime, jsonOf, listing } from './output.js'
import type { Output, VerbMaker } from './verb.js'

interface CreateOptions {
  merchant: string
  permissions?: Permission[]
  publishable?: boolean
  label?: string
  expires?: number
}

const LABEL_LENGTH_MAX = 120
/** The only permission that a key without a secret may have. */
const OF_BROWSERS: Permission = 'tokens:write'

export function keyCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('key').description('API keys: secret ones for servers, publishable ones for browsers.')
  verb<CreateOptions>(
    noun.command('create'),
    { does: 'Make a key. Its full text is shown only this once.', change: 'can_be_undone' },
    async ({ merchants }, options) => {
      const key = await merchants.createKey({
        merchantId: options.merchant,
        permissions: permissionsOf(options),
        isPublishable: options.publishable ?? false,
        label: options.label,
        expiresAtMs: options.expires
      })
      return {
        json: { ...jsonOf(FIELDS, key), key: key.fullKey },
        made: key.keyId,
        whenLost: `The text of the key is shown only once. End it (key revoke ${key.keyId}), and make another one.`,
        text: `${key.fullKey}\n\nThis is the only time that the key is shown. Its id is ${key.keyId}.`
      }
    }
  )
    .requiredOption('--merchant <id>', 'id of the merchant, see `merchant list`')
    .option(
      '--permissions <list>',
      `separated by commas: ${permissions.join(', ')}; required unless --publishable is given`,
      parsePermissions
    )
    .option('--publishable', `a key without a secret, for the browser; its only permission is ${OF_BROWSERS}`)
    .option(
      '--label <text>',
      'what the key is for, such as "checkout, March": `key list` shows it',
      oneLine(LABEL_LENGTH_MAX)
    )
    .option('--expires <time>', 'refused from this time on (ISO 8601); never unless given', time)
  verb<{ merchant?: string }>(
    noun.command('list'),
    { does: 'Keys, oldest first, without their secrets.' },
    async ({ merchants }, { merchant }) => listKeys(await merchants.listKeys(merchant))
  ).option('--merchant <id>', 'only the keys of this merchant')
  verb(
    noun.command('revoke'),
    {
      does: 'End a key for ever. Every process refuses it within 1 s.',
      subject: ['key', 'id of the key (its middle part), see `key list`'],
      change: 'for_ever'
    },
    async ({ merchants }, _, keyId) => {
      const key = await merchants.revokeKey(keyId)
      return { json: jsonOf(FIELDS, key), text: `Key ${keyId} of merchant ${key.merchantId} is revoked.` }
    }
  )
}

function permissionsOf({ permissions: given, publishable }: CreateOptions): Permission[] {
  if (given !== undefined) return given
  if (publishable) return [OF_BROWSERS]
  throw new UsageError(`A secret key needs --permissions: one or more of ${permissions.join(', ')}.`)
}

function parsePermissions(list: string): Permission[] {
  return list.split(',').map(name => {
    const found = permissions.find(permission => permission === name.trim())
    if (found === undefined) {
      throw new InvalidArgumentError(`There is no permission "${name.trim()}". Choose from ${permissions.join(', ')}.`)
    }
    return found
  })
}

const FIELDS: readonly Field<ApiKey>[] = [
  ['key_id', ({ keyId }) => keyId],
  ['merchant_id', ({ merchantId }) => merchantId],
  ['state', stateOf],
  ['publishable', ({ isPublishable }) => isPublishable],
  ['revoked', ({ isRevoked }) => isRevoked, 'json'],
  ['environment', ({ environment }) => environment],
  ['created_at', ({ createdAtMs }) => isoTime(createdAtMs)],
  ['expires_at', ({ expiresAtMs }) => isoTime(expiresAtMs)],
  ['permissions', ({ permissions }) => permissions],
  ['label', ({ label }) => label]
]

/** Keys without their secrets, as `key list` and `merchant show` print them. */
export function listKeys(keys: readonly ApiKey[]): Output {
  return listing(keys, FIELDS, 'There are no keys. Make one: key create.')
}

function stateOf(key: ApiKey): string {
  if (key.isRevoked) return 'revoked'
  return isKeyExpired(key, Date.now()) ? 'expired' : 'active'
}
