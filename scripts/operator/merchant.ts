/** `merchant create|list|show|enable|disable` */
import type { Command } from 'commander'
import { unreplicated } from '../../redis/connection/writes.js'
import type { Merchant } from '../../redis/merchants/merchants.js'
import { createWebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import type { OperatorConnection } from './connection.js'
import { listKeys } from './key.js'
import { type Field, fieldLines, isoTime, jsonOf, listing } from './output.js'
import type { Output, VerbMaker } from './verb.js'

export function merchantCommand(program: Command, verb: VerbMaker): void {
  const noun = program.command('merchant').description('Who may take payments.')
  const subject = ['merchant', 'id of the merchant, see `merchant list`'] as const
  verb(
    noun.command('create'),
    {
      does: 'Add a merchant. It is enabled; make its keys with `key create`.',
      subject: ['name', 'name of the merchant, 1 to 120 characters'],
      change: 'can_be_undone'
    },
    async ({ merchants }, _, name) => {
      const merchant = await merchants.createMerchant(name)
      const { merchantId } = merchant
      return {
        json: jsonOf(FIELDS, merchant),
        text: `Merchant ${merchantId} (${merchant.name}) was created.`,
        made: merchantId
      }
    }
  )
  verb(noun.command('list'), { does: 'All merchants, oldest first.' }, async ({ merchants }) =>
    listing(await merchants.listMerchants(), FIELDS, 'There are no merchants yet. Add one: merchant create.')
  )
  verb(
    noun.command('show'),
    { does: 'One merchant: its state, its keys, and where its webhooks go.', subject },
    (connection, _, merchantId) => show(connection, merchantId)
  ).addHelpText('after', '\nExample:\n  npm run --silent operator -- merchant show m_2f7k0c9x1q')
  for (const [name, isEnabled, does] of [
    ['enable', true, 'Let a merchant take payments again.'],
    ['disable', false, 'Refuse every request of a merchant within 1 s.']
  ] as const) {
    verb(noun.command(name), { does, subject, change: 'can_be_undone' }, async ({ merchants }, _, merchantId) => {
      const merchant = await merchants.setEnabled(merchantId, isEnabled)
      return {
        json: jsonOf(FIELDS, merchant),
        text: `Merchant ${merchantId} is ${isEnabled ? 'enabled' : 'disabled'}.`
      }
    })
  }
}

async function show({ redis, config, merchants }: OperatorConnection, merchantId: string): Promise<Output> {
  const endpoints = createWebhookEndpointStore(unreplicated(redis), config.partitions)
  const [merchant, keys, endpoint] = await Promise.all([
    merchants.requireMerchant(merchantId),
    merchants.listKeys(merchantId),
    endpoints.find(merchantId)
  ])
  const fields = {
    ...jsonOf(FIELDS, merchant),
    webhook_url: endpoint?.url ?? null,
    webhooks_off_since: isoTime(endpoint?.offSinceMs ?? null)
  }
  const { json, text } = listKeys(keys)
  return { json: { ...fields, keys: json }, text: `${fieldLines(fields)}\n\n${text}` }
}

const FIELDS: readonly Field<Merchant>[] = [
  ['merchant_id', ({ merchantId }) => merchantId],
  ['enabled', ({ isEnabled }) => isEnabled],
  ['created_at', ({ createdAtMs }) => isoTime(createdAtMs)],
  ['name', ({ name }) => name]
]
